import { RepriseError } from '../errors.ts';

/** Where a server was to listen, and the variable that sets its port. */
export interface WantedAddress {
  readonly host: string;
  readonly port: number;
  readonly variable: 'REPRISE_HTTP_PORT' | 'REPRISE_GRPC_PORT';
}

/** Why a server can't listen: `address_in_use`, or `config_invalid` for an address that can't be had. */
export function listenError(error: NodeJS.ErrnoException, { host, port, variable }: WantedAddress): RepriseError {
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (error.code === 'EADDRINUSE') {
    const message = `${where} is in use; stop what listens there or set ${variable} to a free port.`;
    return new RepriseError('address_in_use', message, { cause: error });
  }
  const message = `Can't listen on ${where} (${error.code ?? 'unknown'}); set ${variable} or the host to what this machine may use.`;
  return new RepriseError('config_invalid', message, { cause: error });
}
