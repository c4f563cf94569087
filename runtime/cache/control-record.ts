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
  readonly #deps: { grid: Grid; storage: Storage | undefined; ledger: Ledger };
  readonly #shape: ControlShape<T>;
  #current: Versioned<T>;
  #revision = -1;

  constructor(
    name: string,
    deps: { grid: Grid; storage: Storage | undefined; ledger: Ledger },
    shape: ControlShape<T>,
  ) {
    this.name = name;
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
    const kept = await this.#deps.storage?.read(this.#fileName);
    if (kept !== undefined) this.#adopt(this.#decode(kept));
    await this.sync(options);
  }

  /** Brings memory, disk and grid to one value; fails as the grid does. */
  async sync(options: CallOptions): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const stored = await this.#deps.grid.get('control', this.name, options);
      const theirs = stored === undefined ? undefined : this.#decode(stored.value);
      this.#adopt(theirs);
      if (theirs !== undefined && theirs.version >= this.#current.version) break;
      if (theirs === undefined && this.#current.version === 0) break;
      if (await this.#write(this.#current, stored?.version, options)) break;
    }
    await this.#keep();
  }

  /** Reads the grid again when the ledger changed since: another node may have marked its change of this record. */
  async follow(options: CallOptions): Promise<void> {
    const { revision } = this.#deps.ledger;
    if (revision === this.#revision) return;
    await this.sync(options);
    this.#revision = revision;
  }

  /** Applies `change` here, on disk, in the grid, and marks it. Fails when the grid or the ledger could not be written. */
  async update(change: (value: T) => T, options: CallOptions): Promise<void> {
    this.#current = { version: this.#current.version + 1, value: change(this.#current.value) };
    await this.#keep();
    for (let attempt = 0; ; attempt += 1) {
      const stored = await this.#deps.grid.get('control', this.name, options);
      const theirs = stored === undefined ? undefined : this.#decode(stored.value);
      if (theirs !== undefined && theirs.version >= this.#current.version) {
        this.#current = {
          version: theirs.version + 1,
          value: this.#shape.merge(theirs.value, this.#current.value),
        };
      }
      if (await this.#write(this.#current, stored?.version, options)) break;
      if (attempt >= ATTEMPTS_MAX) {
        throw new RepriseError('grid_unavailable', `The control record '${this.name}' kept changing; try again.`);
      }
    }
    await this.#keep();
    await this.#deps.ledger.append(controlName(this.name), 'hard', options);
  }

  get #fileName(): string {
    return `control-${this.name}.json`;
  }

  async #write(next: Versioned<T>, version: unknown, options: CallOptions): Promise<boolean> {
    const item = { key: this.name, value: encode(next) };
    if (version === undefined) return (await this.#deps.grid.putIfAbsent('control', item, options)).stored;
    return (await this.#deps.grid.replaceIfSame('control', version, item, options)) !== undefined;
  }

  #adopt(other: Versioned<T> | undefined): void {
    if (other === undefined || other.version < this.#current.version) return;
    if (other.version > this.#current.version) this.#current = other;
    else this.#current = { version: other.version, value: this.#shape.merge(other.value, this.#current.value) };
  }

  async #keep(): Promise<void> {
    if (this.#current.version > 0) await this.#deps.storage?.write(this.#fileName, encode(this.#current));
  }

  #decode(bytes: Uint8Array): Versioned<T> | undefined {
    try {
      const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
      if (typeof parsed !== 'object' || parsed === null || !('version' in parsed) || !('value' in parsed))
        return undefined;
      const value = this.#shape.parse(parsed.value);
      return typeof parsed.version === 'number' && value !== undefined ? { version: parsed.version, value } : undefined;
    } catch {
      return undefined;
    }
  }
}

function encode<T>(versioned: Versioned<T>): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(versioned));
}
