import { loadConfig } from '../../runtime/config/index.ts';
import { reachableHost } from './addresses.ts';

const HTTP_PORT = 8_080;

/** HTTP address of a node that was started here with the same configuration. */
export function localHttpUrl(): string {
  try {
    const { server } = loadConfig();
    return `http://${reachableHost(server.host)}:${server.httpPort || HTTP_PORT}`;
  } catch {
    // A node's configuration may name credentials that a client's environment doesn't have.
    return `http://127.0.0.1:${HTTP_PORT}`;
  }
}
