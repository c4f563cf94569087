import { createRequire } from 'node:module';

/** What the client keeps of its cluster view listener; undeclared, and as it is in 5.7.0. */
interface ViewListener {
  tryRegisterToRandomConnection(lost: unknown): void;
}

const REPAIRED = Symbol('repaired');
const PAUSE_MS = 50;

/**
 * Mends a fault of `hazelcast-client` 5.7.0. When a connection is lost it registers its view listener on another one drawn at random, and
 * again when that fails. When all connections are reset together, each attempt fails in the same turn of the event loop, so that the loop
 * never gets to hear that they are closed: the process hangs. With a pause before each further attempt it does; the client itself looks
 * whether the attempt is still wanted.
 */
export function repairClient(): void {
  const { ClusterViewListenerService } = createRequire(import.meta.url)(
    'hazelcast-client/lib/listener/ClusterViewListenerService.js',
  ) as { readonly ClusterViewListenerService: { readonly prototype: ViewListener & { [REPAIRED]?: true } } };
  const { prototype } = ClusterViewListenerService;
  if (prototype[REPAIRED] === true) return;
  const register = Reflect.get(prototype, 'tryRegisterToRandomConnection') as (
    this: ViewListener,
    lost: unknown,
  ) => void;
  prototype.tryRegisterToRandomConnection = function later(lost): void {
    setTimeout(() => register.call(this, lost), PAUSE_MS).unref();
  };
  prototype[REPAIRED] = true;
}
