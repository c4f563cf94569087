import { RepriseError } from '../errors.ts';
import type { Hash } from '../ports/hash.ts';
import type { Operation } from '../ports/model.ts';
import type { CacheControls } from '../ports/service.ts';
import { bodyControls } from './canonical-controls.ts';
import { liveField } from './canonical-live.ts';
import { compileRules, type CompiledRules, type RequestRules } from './canonical-rules.ts';
import { validateRequest } from './canonical-validation.ts';
import {
  canonicalJson,
  canonicalText,
  JsonNumber,
  parseJson,
  sortedNames,
  stringifyJson,
  type JsonObject,
  type JsonValue,
} from './json.ts';

export type { RequestRules } from './canonical-rules.ts';

/** What must be known of a request to look it up; small, and the same for equal bodies under equal rules. */
export interface RequestFacts {
  readonly operation: Operation;
  /** As in the body. */
  readonly askedModel: string;
  /** Effective: after overrides and alias. */
  readonly model: string;
  /** Hex SHA-256 of the canonical effective body less its inert fields. */
  readonly bodyHash: string;
  /** The same without the asked text; empty when the request takes no part in semantic reuse. */
  readonly scopeBodyHash: string;
  /** Text of the last user message, or the prompt; empty when the request takes no part in semantic reuse. */
  readonly askedText: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The answer is drawn at random: temperature absent or above 0, and no seed. */
  readonly unseededSampling: boolean;
  /** The field that makes the request stateful or live; empty: none. */
  readonly bypassField: string;
  /** From the body's `cache` object. */
  readonly bodyControls: CacheControls;
  /** Answers asked for (`n`). */
  readonly choices: number;
}

/** A request understood: its facts and the body that the upstream will get. */
export interface CanonicalRequest {
  readonly facts: RequestFacts;
  /** Effective body without `cache`; never written to. */
  readonly tree: JsonObject;
}

/**
 * Stands in a scope where the asked text stood; no value in canonical form begins with it. Where the asked text is in
 * several parts the length of each follows, so that texts that differ only in where they are cut share no scope. After a
 * prompt comes the white space around it, which decides how a model goes on.
 */
const PLACEHOLDER = '?';

/** Fields that never change an answer. `user` is one too, unless the rules isolate users. */
const INERT: ReadonlySet<string> = new Set(['stream', 'stream_options', 'metadata', 'request_id', 'cache']);

/** Whether a field of the body counts for its answer. */
export function countsForAnswer(name: string, isolateUser: boolean): boolean {
  return !INERT.has(name) && (name !== 'user' || isolateUser);
}

/**
 * A raw body understood under the rules for its model. Fails as `parseJson` does, with `invalid_request` or
 * `invalid_control` naming the field in `param`, and with whatever `rulesFor` throws.
 */
export function canonicalRequest(input: {
  readonly operation: Operation;
  readonly body: Uint8Array;
  /** Namespace from the request's headers; wins over the body's. */
  readonly headerNamespace: string | undefined;
  readonly rulesFor: (askedModel: string, namespace: string | undefined) => RequestRules;
  readonly hash: Hash;
  readonly depthMax: number;
}): CanonicalRequest {
  const { operation, hash } = input;
  const body = parseJson(input.body, { depthMax: input.depthMax });
  if (!(body instanceof Map)) throw new RepriseError('invalid_request', 'The body must be a JSON object.');
  const controls = bodyControls(body);
  const askedModel = modelOf(body);
  const rules = compileRules(input.rulesFor(askedModel, input.headerNamespace ?? controls.namespace));
  const tree = effectiveBody(body, rules);
  validateRequest(operation, tree);
  const asked = rules.scoped ? askedParts(operation, tree) : [];
  const segments = canonicalSegments(tree, rules, asked);
  const streamOptions = tree.get('stream_options');
  return {
    tree,
    facts: {
      operation,
      askedModel,
      model: modelOf(tree),
      bodyHash: hash.sha256Hex(joinSegments(segments)),
      scopeBodyHash: asked.length === 0 ? '' : hash.sha256Hex(scopeText(operation, segments, asked)),
      askedText: asked.map((part) => part.text).join('\n'),
      stream: tree.get('stream') === true,
      includeUsage: streamOptions instanceof Map && streamOptions.get('include_usage') === true,
      unseededSampling: operation !== 'embeddings' && isDrawn(tree),
      bypassField: liveField(tree),
      bodyControls: controls,
      choices: (tree.get('n') as number | null | undefined) ?? 1,
    },
  };
}

/** The body for the upstream, JSON in UTF-8: streams always ask for usage, whole answers carry no stream fields. */
export function upstreamBody(tree: JsonObject, options: { readonly stream: boolean }): Uint8Array {
  const body: JsonObject = new Map(tree);
  if (options.stream) {
    const asked = tree.get('stream_options');
    const streamOptions: JsonObject = new Map(asked instanceof Map ? asked : []);
    body.set('stream', true);
    body.set('stream_options', streamOptions.set('include_usage', true));
  } else {
    body.delete('stream');
    body.delete('stream_options');
  }
  return encoder.encode(stringifyJson(body));
}

/** The fields of a body that count, in canonical form: the text that a key of a part of a request is made from. */
export function keyedJson(tree: JsonObject, isolateUser: boolean): string {
  const writer = new SegmentWriter(undefined, []);
  writer.body(tree, isolateUser);
  return joinSegments(writer.end());
}

const encoder = new TextEncoder();

function modelOf(tree: JsonObject): string {
  const model = tree.get('model');
  if (typeof model === 'string' && model !== '') return model;
  const problem = model === undefined ? 'is missing' : 'must be a name';
  throw new RepriseError('invalid_request', `\`model\` ${problem}.`, { param: 'model' });
}

/** Defaults, then the body, then overrides, then the alias. Takes over the body's map. */
function effectiveBody(body: JsonObject, rules: CompiledRules): JsonObject {
  body.delete('cache');
  for (const [name, value] of rules.defaults) if (!body.has(name)) body.set(name, value);
  for (const [name, value] of rules.overrides) body.set(name, value);
  if (rules.as !== '') body.set('model', rules.as);
  return body;
}

/** One place in the body that holds asked text: member `member` of `holder`. */
interface AskedPart {
  readonly holder: JsonObject;
  readonly member: string;
  readonly text: string;
}

/** Where the asked text stands; nowhere when the request takes no part in semantic reuse. */
function askedParts(operation: Operation, tree: JsonObject): readonly AskedPart[] {
  if (operation === 'embeddings' || repeatsPrompt(tree)) return [];
  if (operation === 'completions') return textsOf([[tree, 'prompt']]);
  const messages = tree.get('messages');
  const last = Array.isArray(messages) ? messages[messages.length - 1] : undefined;
  if (!(last instanceof Map) || last.get('role') !== 'user') return [];
  const content = last.get('content');
  if (!Array.isArray(content)) return textsOf([[last, 'content']]);
  const places: [JsonObject, string][] = [];
  for (const part of content) {
    if (!(part instanceof Map) || part.get('type') !== 'text') return [];
    places.push([part, 'text']);
  }
  return textsOf(places);
}

/** True when the answer holds the asked text itself, or its tokens: then it answers no other wording. */
function repeatsPrompt(tree: JsonObject): boolean {
  return (tree.get('echo') ?? false) !== false || (tree.get('prompt_logprobs') ?? null) !== null;
}

function textsOf(places: readonly [JsonObject, string][]): readonly AskedPart[] {
  const parts: AskedPart[] = [];
  let blank = true;
  for (const [holder, member] of places) {
    const text = holder.get(member);
    if (typeof text !== 'string') return [];
    blank &&= !/\S/.test(text);
    parts.push({ holder, member, text });
  }
  return blank ? [] : parts;
}

/** The canonical body in pieces: `fixed[0] asked[0] fixed[1] asked[1] … fixed[n]`. */
interface Segments {
  readonly fixed: readonly string[];
  readonly asked: readonly string[];
}

function joinSegments(segments: Segments): string {
  let text = segments.fixed[0] as string;
  for (let i = 0; i < segments.asked.length; i++) {
    text += (segments.asked[i] as string) + (segments.fixed[i + 1] as string);
  }
  return text;
}

function scopeText(operation: Operation, segments: Segments, asked: readonly AskedPart[]): string {
  const [only] = asked;
  if (asked.length === 1 && only !== undefined) {
    const around = operation === 'completions' ? spaceAround(only.text) : '';
    return segments.fixed.join(PLACEHOLDER + around);
  }
  let text = segments.fixed[0] as string;
  for (let i = 0; i < asked.length; i++) {
    text += `${PLACEHOLDER}${(asked[i] as AskedPart).text.length}${segments.fixed[i + 1] as string}`;
  }
  return text;
}

/** The outer white space of a text in canonical form; empty where it has none. */
function spaceAround(text: string): string {
  const before = text.slice(0, text.length - text.trimStart().length);
  const after = text.slice(text.trimEnd().length);
  return before === '' && after === '' ? '' : canonicalText(before) + canonicalText(after);
}

function canonicalSegments(tree: JsonObject, rules: CompiledRules, asked: readonly AskedPart[]): Segments {
  const writer = new SegmentWriter(rules.blank, asked);
  writer.body(tree, rules.isolateUser);
  return writer.end();
}

/** Writes a body in canonical form, as `canonicalJson` would, cutting it where asked text stands. */
class SegmentWriter {
  readonly #blank: ((text: string) => string) | undefined;
  /** Asked parts in the order in which the canonical form meets them. */
  readonly #parts: readonly AskedPart[];
  readonly #fixed: string[] = [];
  readonly #asked: string[] = [];
  #text = '';

  constructor(blank: ((text: string) => string) | undefined, parts: readonly AskedPart[]) {
    this.#blank = blank;
    this.#parts = parts;
  }

  body(tree: JsonObject, isolateUser: boolean): void {
    let before = '{';
    for (const name of sortedNames(tree)) {
      if (!countsForAnswer(name, isolateUser)) continue;
      this.#text += before + canonicalText(name);
      before = ',';
      const value = tree.get(name) as JsonValue;
      if (name === 'model') this.#text += canonicalJson(value);
      else if (name === 'messages' && this.#asksInMessages(tree)) this.#messages(value as JsonValue[]);
      else this.#member(tree, name, value);
    }
    this.#text += '}';
  }

  end(): Segments {
    return { fixed: [...this.#fixed, this.#text], asked: this.#asked };
  }

  /** False for a prompt, which the body itself holds: then a member named `messages` means nothing. */
  #asksInMessages(tree: JsonObject): boolean {
    return this.#parts.length > 0 && this.#parts[0]?.holder !== tree;
  }

  /** Asked text is in the last message only. */
  #messages(messages: readonly JsonValue[]): void {
    this.#text += '[';
    for (let i = 0; i < messages.length - 1; i++) {
      this.#text += canonicalJson(messages[i] as JsonValue, this.#blank) + ',';
    }
    this.#object(messages[messages.length - 1] as JsonObject);
    this.#text += ']';
  }

  #object(object: JsonObject): void {
    let before = '{';
    for (const name of sortedNames(object)) {
      this.#text += before + canonicalText(name);
      before = ',';
      this.#member(object, name, object.get(name) as JsonValue);
    }
    this.#text += '}';
  }

  #member(holder: JsonObject, name: string, value: JsonValue): void {
    const next = this.#parts[this.#asked.length];
    if (next === undefined) {
      this.#text += canonicalJson(value, this.#blank);
    } else if (next.holder === holder && next.member === name) {
      this.#fixed.push(this.#text);
      this.#asked.push(canonicalJson(value, this.#blank));
      this.#text = '';
    } else if (Array.isArray(value) && value.includes(next.holder)) {
      let before = '[';
      for (const part of value) {
        this.#text += before;
        before = ',';
        this.#object(part as JsonObject);
      }
      this.#text += ']';
    } else this.#text += canonicalJson(value, this.#blank);
  }
}

/** A temperature that is absent counts as above 0: that is every server's default. */
function isDrawn(tree: JsonObject): boolean {
  const seed = tree.get('seed') ?? null;
  if (seed !== null) return false;
  const temperature = tree.get('temperature') ?? null;
  if (temperature === null) return true;
  return (temperature instanceof JsonNumber ? Number(temperature.text) : (temperature as number)) > 0;
}
