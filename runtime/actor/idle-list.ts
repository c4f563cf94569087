/** A member of an `IdleList`; the fields belong to the list. */
export interface IdleNode<T> {
  previous: T | undefined;
  next: T | undefined;
  listed: boolean;
  /** Monotonic instant at which the node was listed. */
  idleAtMs: number;
}

/** A list from longest idle to latest idle, linked through its members: no allocation, and every operation takes constant time. */
export class IdleList<T extends IdleNode<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  /** Adds a node that isn't listed, as the latest. */
  push(node: T, nowMs: number): void {
    node.idleAtMs = nowMs;
    node.listed = true;
    node.previous = this.#last;
    node.next = undefined;
    if (this.#last === undefined) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
  }

  /** Takes a node out; nothing happens when it isn't listed. */
  remove(node: T): void {
    if (!node.listed) return;
    if (node.previous === undefined) this.#first = node.next;
    else node.previous.next = node.next;
    if (node.next === undefined) this.#last = node.previous;
    else node.next.previous = node.previous;
    node.previous = undefined;
    node.next = undefined;
    node.listed = false;
  }
}
