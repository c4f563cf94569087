import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { repairClient } from './client-repair.ts';

type Listener = { connectionAdded(connection: unknown): void };
type Constructor = new (
  logger: unknown,
  connections: unknown,
  partitions: unknown,
  cluster: unknown,
  invocations: unknown,
) => Listener;

const { ClusterViewListenerService } = createRequire(import.meta.url)(
  'hazelcast-client/lib/listener/ClusterViewListenerService.js',
) as { readonly ClusterViewListenerService: Constructor };

describe('the client', () => {
  it('lets the event loop go on while every connection that it draws is dead', async () => {
    repairClient();
    repairClient();
    let attempts = 0;
    const dead = { getClusterUuid: () => undefined };
    const listener = new ClusterViewListenerService(
      { trace: () => undefined },
      { getConnectionRegistry: () => ({ getRandomConnection: () => (attempts < 10_000 ? dead : undefined) }) },
      {},
      { onClusterConnect: () => undefined },
      {
        invokeUrgent: () => {
          attempts += 1;
          return Promise.reject(new Error('the connection is dead'));
        },
      },
    );
    listener.connectionAdded(dead);
    await new Promise((resolve) => setTimeout(resolve, 220));
    expect(attempts).toBeGreaterThan(1);
    expect(attempts).toBeLessThanOrEqual(6);
    attempts = 10_000;
  });
});
