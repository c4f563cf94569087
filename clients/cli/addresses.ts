/** The host to call a server that is bound to `host`, as it stands in an address: a wildcard listens on loopback too. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
