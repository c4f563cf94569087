/** A planned event; `cancel` is idempotent and does nothing once it ran. */
export interface PlannedEvent {
  readonly atMs: number;
  readonly label: string;
  cancel(): void;
}

/** What `pop` hands out. */
export interface DueEvent {
  readonly atMs: number;
  readonly label: string;
  readonly action: () => void;
}

interface Slot {
  readonly atMs: number;
  readonly order: number;
  readonly label: string;
  readonly action: () => void;
  isCancelled: boolean;
  isQueued: boolean;
}

/** Events by time, those of one time in the order of their planning. A binary heap; cancelled events never pile up past half of it. */
export class EventQueue {
  #heap: Slot[] = [];
  #planned = 0;
  #cancelled = 0;

  /** Events still to run. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  /** Time of the next event; undefined when there is none. */
  get nextAtMs(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.atMs;
  }

  plan(atMs: number, label: string, action: () => void): PlannedEvent {
    if (Number.isNaN(atMs)) throw new Error('An event needs a time.');
    const slot: Slot = { atMs, order: this.#planned, label, action, isCancelled: false, isQueued: true };
    this.#planned++;
    this.#heap.push(slot);
    this.#rise(this.#heap.length - 1);
    return { atMs, label, cancel: () => this.#cancel(slot) };
  }

  pop(): DueEvent | undefined {
    this.#dropCancelled();
    return this.#take();
  }

  #cancel(slot: Slot): void {
    if (slot.isCancelled || !slot.isQueued) return;
    slot.isCancelled = true;
    this.#cancelled++;
    if (this.#cancelled * 2 <= this.#heap.length) return;
    this.#heap = this.#heap.filter((other) => !other.isCancelled);
    this.#cancelled = 0;
    for (let index = (this.#heap.length >>> 1) - 1; index >= 0; index--) this.#sink(index);
  }

  #dropCancelled(): void {
    while (this.#heap[0]?.isCancelled === true) {
      this.#take();
      this.#cancelled--;
    }
  }

  #take(): Slot | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined) return undefined;
    first.isQueued = false;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return first;
  }

  #rise(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(from: number): void {
    let index = from;
    for (;;) {
      const left = index * 2 + 1;
      const right = left + 1;
      let first = index;
      if (left < this.#heap.length && this.#isBefore(left, first)) first = left;
      if (right < this.#heap.length && this.#isBefore(right, first)) first = right;
      if (first === index) return;
      this.#swap(index, first);
      index = first;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const a = this.#at(left);
    const b = this.#at(right);
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #swap(left: number, right: number): void {
    const a = this.#at(left);
    this.#heap[left] = this.#at(right);
    this.#heap[right] = a;
  }

  #at(index: number): Slot {
    const slot = this.#heap[index];
    if (slot === undefined) throw new Error('The event heap has a hole.');
    return slot;
  }
}
