import { assert } from '../../runtime/errors.ts';
import type { GridAttributes, GridItem, GridRole, Versioned } from '../../runtime/ports/grid.ts';
import type { Counter, Telemetry } from '../../runtime/ports/telemetry.ts';
import type { ClientPackage } from './cluster-link.ts';
import { Envelope, type Opened, type UnreadableReason } from './envelope.ts';
import { MAP_NAMES } from './map-names.ts';
import type { HazelcastOptions } from './options.ts';
import { attributesAt, makeRecord, positionOf, readRecord } from './records.ts';

/** A stored value as read: readable, with its version, or the reason why not. */
export type Read = (Versioned & { readonly attributes?: GridAttributes }) | UnreadableReason;

const EMPTY = new Uint8Array(0);

/** Between items and what the maps hold. A value that can't be read is counted by its reason. */
export class StoredValues {
  readonly #envelope: Envelope;
  readonly #telemetry: Telemetry;
  readonly #unreadable = new Map<string, Counter>();

  constructor(telemetry: Telemetry, options: Pick<HazelcastOptions, 'seal' | 'compressBytesMin'>) {
    this.#telemetry = telemetry;
    this.#envelope = new Envelope(options);
  }

  /** What to store for an item. */
  wrap(api: ClientPackage, role: GridRole, item: GridItem): unknown {
    assert(item.attributes === undefined || role === 'vectors', 'only vectors are found by attributes');
    const position = positionOf(item.attributes);
    const wrapped = this.#envelope.wrap(item.value, { map: MAP_NAMES[role], key: item.key, position });
    if (role !== 'vectors') return wrapped;
    return Buffer.isBuffer(wrapped)
      ? makeRecord(api, position, wrapped)
      : wrapped.then((value) => makeRecord(api, position, value));
  }

  /** At once but for large compressed values. */
  read(role: GridRole, key: string, stored: unknown): Read | Promise<Read> {
    let value = stored;
    let position = '';
    if (role === 'vectors') {
      const record = readRecord(stored);
      if (record === undefined) return this.#refuse(role, 'type');
      ({ position, value } = record);
    }
    const opened = this.#envelope.open(value, { map: MAP_NAMES[role], key, position });
    return opened instanceof Promise
      ? opened.then((late) => this.#readAs(role, late, stored, position))
      : this.#readAs(role, opened, stored, position);
  }

  #readAs(role: GridRole, opened: Opened, version: unknown, position: string): Read {
    if (typeof opened === 'string') return this.#refuse(role, opened);
    const attributes = position === '' ? undefined : attributesAt(position);
    return attributes === undefined ? { value: opened, version } : { value: opened, version, attributes };
  }

  #refuse(role: GridRole, reason: UnreadableReason): UnreadableReason {
    const name = `${role} ${reason}`;
    let counter = this.#unreadable.get(name);
    if (counter === undefined) {
      counter = this.#telemetry.counter('reprise_grid_unreadable_total', role, reason);
      this.#unreadable.set(name, counter);
    }
    counter.add();
    return reason;
  }
}

/**
 * What a walk gives for a value that can't be read: nothing, but an empty value in the roles that must not lose anything
 * unnoticed. A mark that was left out of a walk would be a forgotten invalidation.
 */
export function unreadInWalk(role: GridRole): Uint8Array | undefined {
  return role === 'ledger' || role === 'control' ? EMPTY : undefined;
}
