import type { RequestFacts } from './canonical-request.ts';
import type { KeyParts } from './key.ts';

/** Bytes charged for a fact record beside its strings: the record, its hashes and its place in the map. */
const RECORD_BYTES = 920;
const SHARE_MAX = 8;

/** What a body means, and the key that was last derived from it. */
export interface RememberedRequest {
  readonly facts: RequestFacts;
  derived: { readonly parts: KeyParts; readonly key: string } | undefined;
}

interface Remembered extends RememberedRequest {
  readonly bytes: number;
  /** Asked for since eviction last passed by. */
  isVisited: boolean;
}

/**
 * A byte-bounded memory of what request bodies mean, so that a repeated body is not parsed again. Holds for one set
 * of rules: `clear` it when rules change. Knows no tenant: everything that a caller is goes into the key afterwards.
 */
export class RequestMemo {
  readonly #bytesMax: number;
  readonly #byBody = new Map<string, Remembered>();
  #bytes = 0;

  constructor(options: { readonly bytesMax: number }) {
    this.#bytesMax = options.bytesMax;
  }

  /** Bytes charged now; never above `bytesMax`. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#byBody.size;
  }

  /** What is known of a body by the SHA-256 of its raw bytes. */
  get(bodyHash: string, operation: string, namespace: string): RememberedRequest | undefined {
    const remembered = this.#byBody.get(memoId(bodyHash, operation, namespace));
    if (remembered !== undefined) remembered.isVisited = true;
    return remembered;
  }

  /** Remembers facts, in place of old ones that weren't asked for again; facts too large for a fair share are not kept. */
  put(bodyHash: string, operation: string, namespace: string, facts: RequestFacts): void {
    const id = memoId(bodyHash, operation, namespace);
    const bytes = RECORD_BYTES + 2 * (id.length + facts.askedText.length + controlsLength(facts));
    this.#remove(id);
    if (bytes * SHARE_MAX > this.#bytesMax) return;
    while (this.#bytes + bytes > this.#bytesMax) this.#evictOne();
    this.#byBody.set(id, { facts: detached(facts), derived: undefined, bytes, isVisited: false });
    this.#bytes += bytes;
  }

  clear(): void {
    this.#byBody.clear();
    this.#bytes = 0;
  }

  /** The oldest one; those asked for meanwhile get a second chance (CLOCK: Corbató, 1968), which costs a hit one write. */
  #evictOne(): void {
    for (const [id, remembered] of this.#byBody) {
      if (!remembered.isVisited) {
        this.#remove(id);
        return;
      }
      remembered.isVisited = false;
      this.#byBody.delete(id);
      this.#byBody.set(id, remembered);
    }
  }

  #remove(id: string): void {
    const remembered = this.#byBody.get(id);
    if (remembered === undefined) return;
    this.#byBody.delete(id);
    this.#bytes -= remembered.bytes;
  }
}

/** The commonest case is the hash as it is: a longer text would have to be put together and hashed at every request. */
function memoId(bodyHash: string, operation: string, namespace: string): string {
  if (namespace === '' && operation === 'chat.completions') return bodyHash;
  return `${bodyHash}${operation}/${namespace}`;
}

function controlsLength(facts: RequestFacts): number {
  return facts.askedModel.length + facts.model.length + (facts.bodyControls.namespace?.length ?? 0);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Strings cut from a body keep all of its text alive; copies don't. */
function detached(facts: RequestFacts): RequestFacts {
  const { namespace } = facts.bodyControls;
  return {
    ...facts,
    askedModel: copy(facts.askedModel),
    model: copy(facts.model),
    askedText: copy(facts.askedText),
    bodyControls: namespace === undefined ? facts.bodyControls : { ...facts.bodyControls, namespace: copy(namespace) },
  };
}

function copy(text: string): string {
  return text === '' ? text : decoder.decode(encoder.encode(text));
}
