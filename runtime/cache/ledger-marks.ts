import type { InvalidationKind, LedgerMark } from '../ports/ledger.ts';
import { parseLedgerName } from './ledger-names.ts';
import type { LedgerNames } from './ledger-names.ts';

interface Mark {
  hard: number;
  soft: number;
}

interface TenantMarks {
  readonly own: Mark;
  readonly namespaces: Map<string, Mark>;
  readonly tags: Map<string, Mark>;
}

/** What marks after a sequence say of an entry: nothing, that it is stale, that it is invalid. */
export type Marked = 'none' | 'soft' | 'hard';

const NONE = 0;
const SOFT = 1;
const HARD = 2;

/**
 * The marks of one incarnation as a node knows them, nested by the parts of their names, so that judging an entry builds
 * no string. Holds at most `marksMax` names: at the bound it raises its floor and forgets the older half, and entries
 * below the floor are invalid whatever their names.
 */
export class MarkTable {
  readonly #marksMax: number;
  readonly #tenants = new Map<string, TenantMarks>();
  readonly #models = new Map<string, Mark>();
  readonly #entries = new Map<string, Mark>();
  readonly #others = new Map<string, Mark>();
  #size = 0;
  #last = 0;
  #floor = 0;

  constructor(marksMax: number) {
    this.#marksMax = marksMax;
  }

  /** Marked names. */
  get size(): number {
    return this.#size;
  }

  /** Highest sequence of any mark, forgotten ones included. */
  get last(): number {
    return this.#last;
  }

  /** Entries below this sequence are invalid. */
  get floor(): number {
    return this.#floor;
  }

  /** Raises one mark; never lowers it. */
  raise(name: string, kind: InvalidationKind, sequence: number): void {
    if (sequence > this.#last) this.#last = sequence;
    if (sequence <= this.#floor) return;
    const mark = this.#markOf(name);
    if (mark.hard === 0 && mark.soft === 0) this.#size++;
    if (sequence > mark[kind]) mark[kind] = sequence;
    if (this.#size > this.#marksMax) this.raiseFloor(this.#middle());
  }

  /** Raises the floor, and forgets the marks at or below it: no entry that passes the floor is before them. */
  raiseFloor(floor: number): void {
    if (floor <= this.#floor) return;
    this.#floor = floor;
    for (const [name, tenant] of this.#tenants) {
      if (isNamed(tenant.own) && newest(tenant.own) <= floor) {
        tenant.own.hard = 0;
        tenant.own.soft = 0;
        this.#size--;
      }
      this.#forget(tenant.namespaces, floor);
      this.#forget(tenant.tags, floor);
      if (!isNamed(tenant.own) && tenant.namespaces.size === 0 && tenant.tags.size === 0) this.#tenants.delete(name);
    }
    this.#forget(this.#models, floor);
    this.#forget(this.#entries, floor);
    this.#forget(this.#others, floor);
  }

  /** The worst that any of the names was marked with after `sequence`. */
  markedAfter(names: LedgerNames, sequence: number): Marked {
    let rank = NONE;
    const tenant = this.#tenants.get(names.tenant);
    if (tenant !== undefined) {
      rank = Math.max(rankOf(tenant.own, sequence), rankOf(tenant.namespaces.get(names.namespace), sequence));
      if (tenant.tags.size > 0) {
        for (const tag of names.tags) rank = Math.max(rank, rankOf(tenant.tags.get(tag), sequence));
      }
    }
    rank = Math.max(rank, rankOf(this.#models.get(names.model), sequence));
    rank = Math.max(rank, rankOf(this.#entries.get(names.key), sequence));
    if (rank === NONE) return 'none';
    return rank === SOFT ? 'soft' : 'hard';
  }

  /** Highest sequence, hard or soft, of any of the names; never below the floor. */
  lastOf(names: LedgerNames): number {
    let last = this.#floor;
    const tenant = this.#tenants.get(names.tenant);
    if (tenant !== undefined) {
      last = Math.max(last, newest(tenant.own), newest(tenant.namespaces.get(names.namespace)));
      if (tenant.tags.size > 0) {
        for (const tag of names.tags) last = Math.max(last, newest(tenant.tags.get(tag)));
      }
    }
    return Math.max(last, newest(this.#models.get(names.model)), newest(this.#entries.get(names.key)));
  }

  #markOf(name: string): Mark {
    const parsed = parseLedgerName(name);
    switch (parsed.kind) {
      case 'tenant':
        return this.#tenantOf(parsed.tenant).own;
      case 'namespace':
        return madeIn(this.#tenantOf(parsed.tenant).namespaces, parsed.namespace);
      case 'tag':
        return madeIn(this.#tenantOf(parsed.tenant).tags, parsed.tag);
      case 'model':
        return madeIn(this.#models, parsed.model);
      case 'entry':
        return madeIn(this.#entries, parsed.key);
      case 'other':
        return madeIn(this.#others, name);
    }
  }

  #tenantOf(tenant: string): TenantMarks {
    let marks = this.#tenants.get(tenant);
    if (marks === undefined) {
      marks = { own: { hard: 0, soft: 0 }, namespaces: new Map(), tags: new Map() };
      this.#tenants.set(tenant, marks);
    }
    return marks;
  }

  #forget(marks: Map<string, Mark>, floor: number): void {
    for (const [name, mark] of marks) {
      if (newest(mark) > floor) continue;
      marks.delete(name);
      if (isNamed(mark)) this.#size--;
    }
  }

  /** The sequence below which the older half of the marks lies. */
  #middle(): number {
    const sequences = new Float64Array(this.#size);
    let count = 0;
    const take = (mark: LedgerMark): void => {
      if (isNamed(mark)) sequences[count++] = newest(mark);
    };
    for (const tenant of this.#tenants.values()) {
      take(tenant.own);
      for (const mark of tenant.namespaces.values()) take(mark);
      for (const mark of tenant.tags.values()) take(mark);
    }
    for (const marks of [this.#models, this.#entries, this.#others]) for (const mark of marks.values()) take(mark);
    sequences.sort();
    return sequences[Math.floor(count / 2)] ?? 0;
  }
}

function madeIn(marks: Map<string, Mark>, name: string): Mark {
  let mark = marks.get(name);
  if (mark === undefined) {
    mark = { hard: 0, soft: 0 };
    marks.set(name, mark);
  }
  return mark;
}

function isNamed(mark: LedgerMark): boolean {
  return mark.hard > 0 || mark.soft > 0;
}

function newest(mark: LedgerMark | undefined): number {
  return mark === undefined ? 0 : Math.max(mark.hard, mark.soft);
}

function rankOf(mark: LedgerMark | undefined, sequence: number): number {
  if (mark === undefined) return NONE;
  if (mark.hard > sequence) return HARD;
  return mark.soft > sequence ? SOFT : NONE;
}
