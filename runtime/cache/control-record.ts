import { RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Grid } from '../ports/grid.ts';
import type { Storage } from '../ports/storage.ts';
import type { Ledger } from './ledger.ts';
import { controlName } from './ledger-names.ts';

/** How a control record's value is spelled, checked and merged. */
export interface ControlShape<T> {
  readonly empty: T;
  /** A JSON value of this record, or undefined when it is malformed. */
  parse(value: unknown): T | undefined;
  /** Both changes kept: commutative and idempotent, so that two nodes' changes never undo each other. */
  merge(a: T, b: T): T;
}

/** What control records need of a node. */
export interface ControlDeps {
  readonly grid: Grid;
  readonly storage: Storage | undefined;
  readonly ledger: Ledger;
}

interface Versioned<T> {
  readonly version: number;
  readonly value: T;
}

const ATTEMPTS_MAX = 8;

/**
 * One named piece of control state: in memory, on the node's disk and in the grid. The highest version wins; an empty grid is
 * seeded again from disk; each change appends `control/<name>` to the ledger, so that other nodes obey within the staleness bound.
 */
export class ControlRecord<T> {
  readonly name: string;
  readonly #deps: ControlDeps;
  readonly #shape: ControlShape<T>;
  readonly #announced: boolean;
  #current: Versioned<T>;
  #revision = -1;
  /** True while memory and disk hold a change that the grid doesn't. */
  #unpublished = false;
  #last: Promise<void> = Promise.resolve();

  /** `announced: false`: changes are not appended to the ledger, since another record tells of them. */
  constructor(name: string, deps: ControlDeps, shape: ControlShape<T>, options: { readonly announced?: boolean } = {}) {
    this.name = name;
    this.#announced = options.announced ?? true;
    this.#deps = deps;
    this.#shape = shape;
    this.#current = { version: 0, value: shape.empty };
  }

  get value(): T {
    return this.#current.value;
  }

  get version(): number {
    return this.#current.version;
  }

  /** Reads disk, then grid; the disk's copy serves alone while the grid is away. */
  async load(options: CallOptions): Promise<void> {
    let seeded = false;
    await this.#inTurn(async () => {
      const kept = await this.#deps.storage?.read(this.#fileName);
      const decoded = kept === undefined ? undefined : this.#decode(kept);
      // A change that the disk refused is in memory only.
      if (decoded !== undefined && decoded.version > this.#current.version) {
        this.#current = decoded;
        this.#unpublished = decoded.unpublished;
      }
      seeded = await this.#sync(options);
    });
    if (seeded) await this.#announce(options);
  }

  /** Brings memory, disk and grid to one value; fails as the grid does. */
  async sync(options: CallOptions): Promise<void> {
    let seeded = false;
    await this.#inTurn(async () => {
      seeded = await this.#sync(options);
    });
    if (seeded) await this.#announce(options);
  }

  /** Reads the grid again when the ledger changed since: another node may have marked its change of this record. */
  async follow(options: CallOptions): Promise<void> {
    const { revision } = this.#deps.ledger;
    if (revision === this.#revision) return;
    await this.sync(options);
    this.#revision = revision;
  }

  /** Applies `change` here, on disk, in the grid, and marks it. Fails when grid or ledger could not be written; it is kept then, and published later. */
  async update(change: (value: T) => T, options: CallOptions): Promise<void> {
    await this.#inTurn(async () => {
      this.#current = { version: this.#current.version + 1, value: change(this.#current.value) };
      this.#unpublished = true;
      await this.#keep();
      await this.#sync(options);
    });
    await this.#announce(options);
  }

  /** Others read a record again only when the ledger tells them. */
  async #announce(options: CallOptions): Promise<void> {
    if (this.#announced) await this.#deps.ledger.append(controlName(this.name), 'hard', options);
  }

  /** True when the grid had lost the record and has it again from here. */
  async #sync(options: CallOptions): Promise<boolean> {
    let seeded = false;
    for (let attempt = 0; ; attempt += 1) {
      const stored = await this.#deps.grid.get('control', this.name, options);
      const theirs = stored === undefined ? undefined : this.#decode(stored.value);
      if (theirs !== undefined) this.#adopt(theirs);
      const isPublished = !this.#unpublished && (theirs !== undefined || this.#current.version === 0);
      if (isPublished && (theirs?.version ?? 0) >= this.#current.version) break;
      if (await this.#write(this.#current, stored?.version, options)) {
        seeded = theirs === undefined && !this.#unpublished;
        this.#unpublished = false;
        break;
      }
      if (attempt >= ATTEMPTS_MAX) {
        throw new RepriseError('grid_unavailable', `The control record '${this.name}' kept changing; try again.`);
      }
    }
    await this.#keep();
    return seeded;
  }

  /** One reader or writer at a time: between reading the grid and writing it, nothing else changes what this node holds. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  get #fileName(): string {
    return `control-${this.name}.json`;
  }

  async #write(next: Versioned<T>, version: unknown, options: CallOptions): Promise<boolean> {
    const item = { key: this.name, value: encode(next) };
    if (version === undefined) return (await this.#deps.grid.putIfAbsent('control', item, options)).stored;
    return (await this.#deps.grid.replaceIfSame('control', version, item, options)) !== undefined;
  }

  /**
   * Merges, whatever the versions: after a loss of the grid, or a split of it, two histories may meet of which neither knows the other's
   * changes, and the higher version is no later one. What theirs lacks is written back.
   */
  #adopt(theirs: Versioned<T>): void {
    const value = this.#shape.merge(theirs.value, this.#current.value);
    const lacks = JSON.stringify(value) !== JSON.stringify(theirs.value);
    this.#unpublished = lacks;
    this.#current = { version: Math.max(theirs.version, this.#current.version) + (lacks ? 1 : 0), value };
  }

  async #keep(): Promise<void> {
    if (this.#current.version === 0) return;
    const kept = encode({ ...this.#current, unpublished: this.#unpublished });
    await this.#deps.storage?.write(this.#fileName, kept);
  }

  #decode(bytes: Uint8Array): (Versioned<T> & { readonly unpublished: boolean }) | undefined {
    try {
      const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
      if (typeof parsed !== 'object' || parsed === null || !('version' in parsed) || !('value' in parsed))
        return undefined;
      const value = this.#shape.parse(parsed.value);
      if (typeof parsed.version !== 'number' || value === undefined) return undefined;
      return { version: parsed.version, value, unpublished: 'unpublished' in parsed && parsed.unpublished === true };
    } catch {
      return undefined;
    }
  }
}

function encode<T>(versioned: Versioned<T> & { readonly unpublished?: boolean }): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(versioned));
}
