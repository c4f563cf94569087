import type { Incarnation, LedgerHead, LedgerPosition, LedgerRecord } from '../ports/ledger.ts';
import { assert } from '../errors.ts';
import type { LedgerNames } from './ledger-names.ts';
import { MarkTable } from './ledger-marks.ts';

/**
 * How a head that was read relates to the one that a node knows. `current`: the same or one whose list holds all that is
 * new. `first`: nothing is known yet. `higher`: a later incarnation. `far`: the list doesn't reach back to what is known.
 * `fork`: not a successor of what is known.
 */
export type HeadVerdict = 'current' | 'first' | 'higher' | 'far' | 'fork';

/** What the ledger says of an entry. `stale`: only soft marks came after it. */
export type Validity = 'valid' | 'stale' | 'invalid';

/** Tells whether two positions or heads belong to one life of the ledger. */
export function isSameIncarnation(left: Incarnation, right: Incarnation): boolean {
  return left === right || (left.counter === right.counter && left.random === right.random);
}

/** Sequence of the oldest record in a head's list; one past the head's sequence when the list is empty. */
function firstSequence(head: LedgerHead): number {
  return head.sequence - head.records.length + 1;
}

/** True when a head's list alone tells every mark that still counts. */
export function isSelfContained(head: LedgerHead): boolean {
  return firstSequence(head) <= head.floor + 1;
}

/**
 * The ledger as one node knows it: the head that it goes along with and the marks up to it. All of it is synchronous;
 * judging an entry allocates nothing.
 */
export class LedgerView {
  readonly #marksMax: number;
  #head: LedgerHead | undefined;
  #position: LedgerPosition | undefined;
  #marks: MarkTable;
  #revision = 0;
  #flightPrefix = '';

  constructor(marksMax: number) {
    this.#marksMax = marksMax;
    this.#marks = new MarkTable(marksMax);
  }

  /** The head's position; one object for as long as the head's sequence stays. */
  get position(): LedgerPosition | undefined {
    return this.#position;
  }

  get head(): LedgerHead | undefined {
    return this.#head;
  }

  /** Rises with every change that may change a judgement. */
  get revision(): number {
    return this.#revision;
  }

  /** The floor that this node goes by; above the head's own when it had to forget marks. */
  get floor(): number {
    return this.#marks.floor;
  }

  /**
   * The table that marks are read into before `install`: the live one where its marks still count (what this node knew
   * stays known, and a mark that is raised early only invalidates early), an empty one for a new incarnation.
   */
  tableFor(head: LedgerHead): MarkTable {
    const known = this.#head;
    const isKnown = known !== undefined && isSameIncarnation(known.incarnation, head.incarnation);
    return isKnown ? this.#marks : new MarkTable(this.#marksMax);
  }

  judge(head: LedgerHead): HeadVerdict {
    const known = this.#head;
    if (known === undefined) return 'first';
    if (head.incarnation.counter > known.incarnation.counter) return 'higher';
    if (!isSameIncarnation(head.incarnation, known.incarnation)) return 'fork';
    if (head.sequence < known.sequence || head.floor < known.floor) return 'fork';
    const first = firstSequence(head);
    for (const record of known.records) {
      const theirs = head.records[record.sequence - first];
      if (theirs !== undefined && theirs.nonce !== record.nonce) return 'fork';
    }
    // Without a record that both lists hold, nothing shows that the two belong to one history.
    const reach = known.sequence === 0 ? 1 : known.sequence;
    return first > reach ? 'far' : 'current';
  }

  /** Takes over what is new in a head judged `current`. */
  extend(head: LedgerHead): void {
    const known = this.#head;
    assert(known !== undefined, 'a first head is installed');
    if (head.sequence === known.sequence && head.floor === known.floor) return;
    const first = firstSequence(head);
    for (let sequence = known.sequence + 1; sequence <= head.sequence; sequence++) {
      const record = head.records[sequence - first];
      assert(record !== undefined, 'a current head holds every new record');
      this.#marks.raise(record.name, record.kind, record.sequence);
    }
    this.#set(head);
  }

  /** Replaces what is known by a head and the marks of its incarnation. */
  install(head: LedgerHead, marks: MarkTable): void {
    for (const record of head.records) marks.raise(record.name, record.kind, record.sequence);
    this.#marks = marks;
    this.#flightPrefix = `${head.incarnation.counter}.${head.incarnation.random}.`;
    this.#set(head);
  }

  validity(names: LedgerNames, position: LedgerPosition): Validity {
    const known = this.#position;
    if (position === known) return 'valid';
    const head = this.#head;
    if (known === undefined || head === undefined) return 'invalid';
    if (!isSameIncarnation(position.incarnation, known.incarnation)) return 'invalid';
    const sequence = position.sequence;
    if (sequence < this.#marks.floor || !isOnList(head, position)) return 'invalid';
    if (sequence >= this.#marks.last) return 'valid';
    const marked = this.#marks.markedAfter(names, sequence);
    if (marked === 'none') return 'valid';
    return marked === 'soft' ? 'stale' : 'invalid';
  }

  /** Highest sequence of any mark of the names; the floor where that is higher. */
  lastMark(names: LedgerNames): number {
    return this.#marks.last === 0 ? 0 : this.#marks.lastOf(names);
  }

  /** Text that differs before and after an invalidation of any of the names; empty before the first head. */
  flightPosition(names: LedgerNames): string {
    return this.#head === undefined ? '' : this.#flightPrefix + this.lastMark(names);
  }

  #set(head: LedgerHead): void {
    this.#marks.raiseFloor(head.floor);
    const known = this.#position;
    const nonce = lastRecord(head)?.nonce ?? 0;
    this.#head = head;
    this.#revision++;
    const isSame =
      known !== undefined &&
      isSameIncarnation(known.incarnation, head.incarnation) &&
      known.sequence === head.sequence &&
      known.nonce === nonce;
    if (!isSame) this.#position = { incarnation: head.incarnation, sequence: head.sequence, nonce };
  }
}

/** False when the list holds the position's sequence with another nonce, or the sequence is 0 with one. */
function isOnList(head: LedgerHead, position: LedgerPosition): boolean {
  const record = head.records[position.sequence - firstSequence(head)];
  return record === undefined || record.nonce === position.nonce;
}

function lastRecord(head: LedgerHead): LedgerRecord | undefined {
  return head.records[head.records.length - 1];
}
