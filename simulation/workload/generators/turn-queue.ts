interface Planned<T> {
  readonly atMs: number;
  readonly turn: T;
}

/** Turns by time: a binary heap. */
export class TurnQueue<T> {
  readonly #heap: Planned<T>[] = [];

  add(atMs: number, turn: T): void {
    const heap = this.#heap;
    let at = heap.length;
    const planned = { atMs, turn };
    heap.push(planned);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (heap[above]!.atMs <= atMs) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = planned;
  }

  /** The earliest; there must be one. */
  take(): Planned<T> {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.atMs < heap[below]!.atMs) below += 1;
      if (heap[below]!.atMs >= last.atMs) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}
