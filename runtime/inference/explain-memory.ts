import { fieldMarks, textMark } from '../cache/field-marks.ts';
import type { Hash } from '../ports/hash.ts';
import type { Prepared } from './prepare.ts';

/** A field's name, kept once for all requests that have the field. */
interface FieldName {
  readonly text: string;
  /** Remembered requests that have it. */
  uses: number;
  /** The question whose mark is in `asked`. */
  question: number;
  asked: number;
}

interface Fields {
  readonly names: readonly FieldName[];
  /** In the order of `names`. */
  readonly marks: Float64Array;
}

interface Remembered extends Fields {
  readonly key: string;
  readonly tenant: string;
  readonly bytes: number;
  older: Remembered | undefined;
  newer: Remembered | undefined;
}

/** What a request would be remembered by, names as text. */
interface Marked {
  readonly names: readonly string[];
  readonly marks: readonly number[];
}

export interface NearestKey {
  readonly entryId: string;
  /** Sorted, 64 at most. */
  readonly differingFields: readonly string[];
}

export interface ExplainMemoryOptions {
  readonly entriesMax: number;
  /** Of names and marks; 0: nothing is remembered. */
  readonly bytesMax: number;
}

/** What a request is told by beside its fields, in this order before them. */
const PART_NAMES = ['(namespace)', '(operation)', '(tags)', '(model version)', '(bucket)'];
/** One mark for the fields past the bounds. */
const REST_NAME = '(further fields)';
const FIELDS_MAX = 512;
const NAME_CHARACTERS_MAX = 200;
const DIFFERING_MAX = 64;
/** Steps of one search: fields compared and requests passed; a few milliseconds. */
const STEPS_MAX = 200_000;
const ENTRY_BYTES = 320;
const FIELD_BYTES = 16;
const NAME_BYTES = 160;
const CHARACTER_BYTES = 2;

/**
 * The fields, hashed, of recently stored requests: answers "why did this miss?" without keeping any text. It knows
 * nothing of what became of them: a key that it names may have expired or been invalidated since.
 */
export class ExplainMemory {
  readonly #hash: Hash;
  readonly #options: ExplainMemoryOptions;
  readonly #byKey = new Map<string, Remembered>();
  readonly #names = new Map<string, FieldName>();
  #newest: Remembered | undefined;
  #oldest: Remembered | undefined;
  #bytes = 0;
  #question = 0;

  constructor(hash: Hash, options: ExplainMemoryOptions) {
    this.#hash = hash;
    this.#options = options;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** What it holds, by its own reckoning. */
  get bytes(): number {
    return this.#bytes;
  }

  remember(prepared: Prepared): void {
    const { entriesMax, bytesMax } = this.#options;
    if (entriesMax === 0 || bytesMax === 0) return;
    const { key, parts } = prepared;
    const marked = this.#marked(prepared);
    const bytes =
      ENTRY_BYTES + CHARACTER_BYTES * (key.length + parts.tenant.length) + FIELD_BYTES * marked.names.length;
    const known = this.#byKey.get(key);
    if (known !== undefined) this.#forget(known);
    // Alone past the bound, it would turn out every other one and then itself.
    if (bytes + marked.names.reduce((sum, name) => sum + bytesOfName(name), 0) > bytesMax) return;
    const names = marked.names.map((name) => this.#use(name));
    this.#bytes += bytes;
    this.#add({
      key,
      tenant: parts.tenant,
      bytes,
      names,
      marks: Float64Array.from(marked.marks),
      older: this.#newest,
      newer: undefined,
    });
    while (this.#oldest !== undefined && (this.#byKey.size > entriesMax || this.#bytes > bytesMax))
      this.#forget(this.#oldest);
  }

  /** The stored key of the same tenant with the fewest differing fields; the latest of equals, and of very many the latest only. */
  nearest(prepared: Prepared): NearestKey | undefined {
    const { key, parts } = prepared;
    const asked = this.#marked(prepared);
    this.#ask(asked);
    let best: Remembered | undefined;
    let bestCount = Infinity;
    let steps = 0;
    for (let stored = this.#newest; stored !== undefined && steps < STEPS_MAX; stored = stored.older) {
      steps += 1;
      if (stored.tenant !== parts.tenant || stored.key === key) continue;
      // Each that one has more is a difference.
      if (Math.abs(stored.names.length - asked.names.length) >= bestCount) continue;
      const { count, compared } = this.#differences(stored, asked.names.length, bestCount);
      steps += compared;
      if (count >= bestCount) continue;
      best = stored;
      bestCount = count;
    }
    return best && { entryId: best.key, differingFields: this.#differingFields(best, asked) };
  }

  /** Writes the asked marks to the names, once for all comparisons. */
  #ask({ names, marks }: Marked): void {
    this.#question += 1;
    for (const [at, text] of names.entries()) {
      const name = this.#names.get(text);
      if (name === undefined) continue;
      name.question = this.#question;
      name.asked = marks[at]!;
    }
  }

  /** Fields of either that the other lacks or has otherwise; `limit` or more: no longer of interest. */
  #differences({ names, marks }: Fields, askedCount: number, limit: number): { count: number; compared: number } {
    const question = this.#question;
    let shared = 0;
    let differing = 0;
    let at = 0;
    for (; at < names.length && differing < limit; at += 1) {
      const name = names[at]!;
      if (name.question === question) shared += 1;
      if (name.question !== question || name.asked !== marks[at]) differing += 1;
    }
    return { count: differing >= limit ? differing : differing + askedCount - shared, compared: at };
  }

  #differingFields({ names, marks }: Fields, asked: Marked): readonly string[] {
    const stored = new Map(names.map(({ text }, at) => [text, marks[at]]));
    const differing = asked.names.filter((name, at) => stored.get(name) !== asked.marks[at]);
    const known = new Set(asked.names);
    for (const name of stored.keys()) if (!known.has(name)) differing.push(name);
    return differing.sort().slice(0, DIFFERING_MAX);
  }

  #marked(prepared: Prepared): Marked {
    const { parts } = prepared;
    const { names, marks } = fieldMarks(prepared.canonical().tree, this.#hash, prepared.namespace.isolateUser);
    const partMarks = [
      parts.namespace,
      parts.operation,
      [...parts.tags].sort().join(','),
      parts.modelVersion,
      String(parts.bucket),
    ].map((part) => textMark(part, this.#hash));
    const kept = new Map<string, number>();
    for (const [at, name] of PART_NAMES.entries()) kept.set(name, partMarks[at]!);
    let rest: number | undefined;
    for (const [at, name] of names.entries()) {
      const mark = marks[at]!;
      const isKept = kept.size < FIELDS_MAX && name.length <= NAME_CHARACTERS_MAX && !kept.has(name);
      if (isKept) kept.set(name, mark);
      else rest = textMark(`${rest ?? ''}/${textMark(name, this.#hash)}/${mark}`, this.#hash);
    }
    if (rest !== undefined) kept.set(REST_NAME, rest);
    return { names: [...kept.keys()], marks: [...kept.values()] };
  }

  #use(text: string): FieldName {
    let name = this.#names.get(text);
    if (name === undefined) {
      const own = copyOf(text);
      name = { text: own, uses: 0, question: 0, asked: 0 };
      this.#names.set(own, name);
      this.#bytes += bytesOfName(own);
    }
    name.uses += 1;
    return name;
  }

  #add(remembered: Remembered): void {
    if (this.#newest === undefined) this.#oldest = remembered;
    else this.#newest.newer = remembered;
    this.#newest = remembered;
    this.#byKey.set(remembered.key, remembered);
  }

  #forget(remembered: Remembered): void {
    const { older, newer } = remembered;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    this.#byKey.delete(remembered.key);
    this.#bytes -= remembered.bytes;
    for (const name of remembered.names) {
      name.uses -= 1;
      if (name.uses > 0) continue;
      this.#names.delete(name.text);
      this.#bytes -= bytesOfName(name.text);
    }
  }
}

/** A name cut from a body would keep all of the body alive. */
function copyOf(text: string): string {
  return String.fromCharCode(...Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)));
}

function bytesOfName(text: string): number {
  return NAME_BYTES + CHARACTER_BYTES * text.length;
}
