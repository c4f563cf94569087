/** Resolves when all microtasks have run: Node empties that queue before it turns to immediates. */
export function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
