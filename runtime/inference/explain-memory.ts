import { fieldMarks, type FieldMarks } from '../cache/field-marks.ts';
import type { KeyParts } from '../cache/key.ts';
import type { Hash } from '../ports/hash.ts';
import type { Prepared } from './prepare.ts';

interface Remembered {
  readonly key: string;
  readonly parts: KeyParts;
  readonly fields: FieldMarks;
}

export interface NearestKey {
  readonly entryId: string;
  readonly differingFields: readonly string[];
}

/** The fields, hashed, of recently stored requests: answers "why did this miss?" without keeping any text. */
export class ExplainMemory {
  readonly #hash: Hash;
  readonly #entriesMax: number;
  readonly #byKey = new Map<string, Remembered>();

  constructor(hash: Hash, options: { entriesMax: number }) {
    this.#hash = hash;
    this.#entriesMax = options.entriesMax;
  }

  get size(): number {
    return this.#byKey.size;
  }

  remember(prepared: Prepared): void {
    if (this.#entriesMax === 0) return;
    const { key, parts } = prepared;
    this.#byKey.delete(key);
    if (this.#byKey.size >= this.#entriesMax) {
      const oldest = this.#byKey.keys().next();
      if (oldest.done !== true) this.#byKey.delete(oldest.value);
    }
    this.#byKey.set(key, { key, parts, fields: this.#fields(prepared) });
  }

  /** The stored key of the same tenant with the fewest differing fields; the latest of equals. */
  nearest(prepared: Prepared): NearestKey | undefined {
    const { key, parts } = prepared;
    const asked = marksByName(parts, this.#fields(prepared));
    let best: NearestKey | undefined;
    for (const stored of this.#byKey.values()) {
      if (stored.parts.tenant !== parts.tenant || stored.key === key) continue;
      const differingFields = differences(marksByName(stored.parts, stored.fields), asked);
      if (best === undefined || differingFields.length <= best.differingFields.length) {
        best = { entryId: stored.key, differingFields };
      }
    }
    return best;
  }

  #fields(prepared: Prepared): FieldMarks {
    return fieldMarks(prepared.canonical().tree, this.#hash, prepared.namespace.isolateUser);
  }
}

type MarksByName = ReadonlyMap<string, number | string>;

function marksByName(parts: KeyParts, { names, marks }: FieldMarks): MarksByName {
  const byName = new Map<string, number | string>([
    ['(namespace)', parts.namespace],
    ['(operation)', parts.operation],
    ['(tags)', [...parts.tags].sort().join(',')],
    ['(model version)', parts.modelVersion],
    ['(bucket)', parts.bucket],
  ]);
  for (const [at, name] of names.entries()) byName.set(name, marks[at] as number | string);
  return byName;
}

function differences(a: MarksByName, b: MarksByName): string[] {
  const names = new Set([...a.keys(), ...b.keys()]);
  return [...names].filter((name) => a.get(name) !== b.get(name)).sort();
}
