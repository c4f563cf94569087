/** What of a running server is closed. */
export interface Closable {
  readonly http: { close(limitMs: number): Promise<void> };
  readonly grpc: { close(limitMs: number): Promise<void> };
  readonly node: { cut(): void; drain(limitMs: number): Promise<void> };
  /** Stops the node and what belongs to it. */
  readonly stop: () => Promise<void>;
}

/** For streams that were cut at the limit to tell their clients so. */
const CUT_MS = 250;
/** For answers that came last to be stored, where requests took all of the limit. */
const STORE_MS = 250;

/**
 * Closes both servers within `limitMs`, at which what still runs is cut, then stores what waits to be stored and stops everything: all but the
 * stopping within half a second more. A server that can't be closed keeps nothing else from it; its failure is thrown at the end.
 */
export async function closeServer({ http, grpc, node, stop }: Closable, limitMs: number): Promise<void> {
  const endsAtMs = performance.now() + limitMs + CUT_MS + STORE_MS;
  const limit = setTimeout(() => node.cut(), limitMs);
  try {
    const closed = await Promise.allSettled([http.close(limitMs + CUT_MS), grpc.close(limitMs + CUT_MS)]);
    clearTimeout(limit);
    await node.drain(Math.max(0, endsAtMs - performance.now()));
    const failed = closed.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } finally {
    clearTimeout(limit);
    await stop();
  }
}
