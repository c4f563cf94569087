import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { runServer } from './run-server.ts';

let taken: Server;
let port: number;

beforeEach(async () => {
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  ({ port } = taken.address() as AddressInfo);
});
afterEach(() => new Promise<void>((resolve) => taken.close(() => resolve())));

describe('a port that is taken', () => {
  it.each(['httpPort', 'grpcPort'] as const)('ends the start before the node is put together: %s', async (name) => {
    const server = { httpPort: 0, grpcPort: 0, [name]: port };
    const telemetry = { logLevel: 'error' as const };
    const config = loadConfig({ file: false, env: {}, overrides: { server, telemetry } });
    let isAssembled = false;
    const overrides = {
      get embedder() {
        isAssembled = true;
        return { missing: 'not in this test' };
      },
    };
    await expect(runServer(config, overrides)).rejects.toMatchObject({
      code: 'address_in_use',
      message: expect.stringContaining(
        `127.0.0.1:${port} is in use; stop what listens there or set REPRISE_${name === 'httpPort' ? 'HTTP' : 'GRPC'}_PORT`,
      ) as string,
    });
    expect(isAssembled).toBe(false);
  });
});
