import { createServer } from 'node:net';
import type { Config } from '../config/index.ts';
import { listenError, type WantedAddress } from '../server/listen-error.ts';

type ServerPorts = Pick<Config['server'], 'host' | 'httpPort' | 'grpcPort'>;

/** Listens for a moment where the servers will, so that a start fails before its slow part. Fails as the servers do. */
export async function refuseTakenPorts({ host, httpPort, grpcPort }: ServerPorts): Promise<void> {
  const wanted: readonly WantedAddress[] = [
    { host, port: httpPort, variable: 'REPRISE_HTTP_PORT' },
    { host, port: grpcPort, variable: 'REPRISE_GRPC_PORT' },
  ];
  for (const address of wanted) if (address.port !== 0) await tryToListen(address);
}

function tryToListen(address: WantedAddress): Promise<void> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => reject(listenError(error, address)));
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}
