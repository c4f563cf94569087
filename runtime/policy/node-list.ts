import { assert } from '../errors.ts';
import type { Resident } from './eviction-policy.ts';

/** A resident, or a key that a policy remembers: a node of one `NodeList`, and the handle that the owner keeps. */
export class PolicyNode<K> implements Resident<K> {
  readonly key: K;
  bytes: number;
  value: unknown = undefined;
  resident = false;
  newer: PolicyNode<K> | undefined = undefined;
  older: PolicyNode<K> | undefined = undefined;
  list: NodeList<K> | undefined = undefined;
  /** The policy's own number: a bit, a count of hits or a state. */
  mark = 0;
  /** The node's place in an array of its policy; -1: it has none. */
  slot = -1;

  constructor(key: K, bytes: number) {
    this.key = key;
    this.bytes = bytes;
  }
}

/** A doubly linked list of nodes from newest to oldest that knows its bytes; every operation is O(1). */
export class NodeList<K> {
  newest: PolicyNode<K> | undefined = undefined;
  oldest: PolicyNode<K> | undefined = undefined;
  bytes = 0;
  size = 0;

  addNewest(node: PolicyNode<K>): void {
    assert(node.list === undefined, 'a node is in one list');
    node.older = this.newest;
    if (this.newest === undefined) this.oldest = node;
    else this.newest.newer = node;
    this.newest = node;
    this.#count(node);
  }

  addOldest(node: PolicyNode<K>): void {
    assert(node.list === undefined, 'a node is in one list');
    node.newer = this.oldest;
    if (this.oldest === undefined) this.newest = node;
    else this.oldest.older = node;
    this.oldest = node;
    this.#count(node);
  }

  /** Puts a node right behind another one of this list, which leaves after it. */
  addOlderThan(newer: PolicyNode<K>, node: PolicyNode<K>): void {
    assert(node.list === undefined && newer.list === this, 'a node is in one list');
    const { older } = newer;
    node.newer = newer;
    node.older = older;
    newer.older = node;
    if (older === undefined) this.oldest = node;
    else older.newer = node;
    this.#count(node);
  }

  remove(node: PolicyNode<K>): void {
    assert(node.list === this, 'a node leaves the list that it is in');
    const { newer, older } = node;
    if (newer === undefined) this.newest = older;
    else newer.older = older;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    node.newer = undefined;
    node.older = undefined;
    node.list = undefined;
    this.bytes -= node.bytes;
    this.size -= 1;
  }

  /** The same as `remove` and `addNewest`, for a node of this list. */
  renew(node: PolicyNode<K>): void {
    const { newer, older, list } = node;
    assert(list === this, 'a node is renewed in the list that it is in');
    if (newer === undefined) return;
    newer.older = older;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    node.newer = undefined;
    node.older = this.newest;
    if (this.newest !== undefined) this.newest.newer = node;
    this.newest = node;
  }

  resize(node: PolicyNode<K>, bytes: number): void {
    assert(node.list === this, 'a node is resized in the list that it is in');
    this.bytes += bytes - node.bytes;
    node.bytes = bytes;
  }

  clear(): void {
    this.newest = undefined;
    this.oldest = undefined;
    this.bytes = 0;
    this.size = 0;
  }

  #count(node: PolicyNode<K>): void {
    node.list = this;
    this.bytes += node.bytes;
    this.size += 1;
  }
}
