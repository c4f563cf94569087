import type { RequestFacts } from './canonical-request.ts';

/** Bytes charged for a fact record beside its strings: the record, its hashes and its place in the map. */
const RECORD_BYTES = 720;
const SHARE_MAX = 8;

interface Remembered {
  readonly facts: RequestFacts;
  readonly bytes: number;
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

  /** Facts of a body by the SHA-256 of its raw bytes. */
  get(bodyHash: string, operation: string, namespace: string): RequestFacts | undefined {
    const id = memoId(bodyHash, operation, namespace);
    const remembered = this.#byBody.get(id);
    if (remembered === undefined) return undefined;
    this.#byBody.delete(id);
    this.#byBody.set(id, remembered);
    return remembered.facts;
  }

  /** Remembers facts, in place of those least recently used; facts too large for a fair share are not kept. */
  put(bodyHash: string, operation: string, namespace: string, facts: RequestFacts): void {
    const id = memoId(bodyHash, operation, namespace);
    const bytes = RECORD_BYTES + 2 * (id.length + facts.askedText.length + controlsLength(facts));
    this.#remove(id);
    if (bytes * SHARE_MAX > this.#bytesMax) return;
    while (this.#bytes + bytes > this.#bytesMax) this.#remove(this.#byBody.keys().next().value as string);
    this.#byBody.set(id, { facts: detached(facts), bytes });
    this.#bytes += bytes;
  }

  clear(): void {
    this.#byBody.clear();
    this.#bytes = 0;
  }

  #remove(id: string): void {
    const remembered = this.#byBody.get(id);
    if (remembered === undefined) return;
    this.#byBody.delete(id);
    this.#bytes -= remembered.bytes;
  }
}

function memoId(bodyHash: string, operation: string, namespace: string): string {
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
  return decoder.decode(encoder.encode(text));
}
