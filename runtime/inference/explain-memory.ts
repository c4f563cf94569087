import { fieldHashes } from '../cache/canonical-request.ts';
import type { Hash } from '../ports/hash.ts';
import type { Prepared } from './prepare.ts';

interface Remembered {
  readonly key: string;
  readonly tenant: string;
  readonly fields: ReadonlyMap<string, string>;
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
    this.#byKey.delete(prepared.key);
    if (this.#byKey.size >= this.#entriesMax) {
      const oldest = this.#byKey.keys().next();
      if (oldest.done !== true) this.#byKey.delete(oldest.value);
    }
    this.#byKey.set(prepared.key, {
      key: prepared.key,
      tenant: prepared.parts.tenant,
      fields: this.#fields(prepared),
    });
  }

  /** The stored key of the same tenant with the fewest differing fields; the latest of equals. */
  nearest(prepared: Prepared): NearestKey | undefined {
    const asked = this.#fields(prepared);
    let best: NearestKey | undefined;
    for (const stored of this.#byKey.values()) {
      if (stored.tenant !== prepared.parts.tenant || stored.key === prepared.key) continue;
      const differingFields = differences(stored.fields, asked);
      if (best === undefined || differingFields.length <= best.differingFields.length) {
        best = { entryId: stored.key, differingFields };
      }
    }
    return best;
  }

  #fields(prepared: Prepared): ReadonlyMap<string, string> {
    const { parts } = prepared;
    const fields = new Map(fieldHashes(prepared.canonical().tree, this.#hash, prepared.namespace.isolateUser));
    fields.set('(namespace)', parts.namespace);
    fields.set('(operation)', parts.operation);
    fields.set('(tags)', [...parts.tags].sort().join(','));
    fields.set('(model version)', parts.modelVersion);
    fields.set('(bucket)', String(parts.bucket));
    return fields;
  }
}

function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  const names = new Set([...a.keys(), ...b.keys()]);
  return [...names].filter((name) => a.get(name) !== b.get(name)).sort();
}
