import { RepriseError, failedOutcome, toRepriseError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedding } from '../ports/embedder.ts';
import type { Entry, Usage } from '../ports/entry.ts';
import type { Hash } from '../ports/hash.ts';
import type { Random } from '../ports/random.ts';
import {
  RECORD_SCHEMA,
  type RecordedRequest,
  type Recording,
  type RecordingStatus,
  type RecordingTerms,
  type Recordings,
  type RecordHeader,
} from '../ports/recording.ts';
import type { CandidateEvidence, Outcome } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { normaliseAskedText } from '../semantic/asked-text.ts';
import { isoTime } from './iso-time.ts';
import { LineQueue } from './line-queue.ts';

/** Requests that wait for an older one to end, since lines are in the order of arrival. */
const WAITING_MAX = 16_384;
/** Lines that wait, for an older request to end or to be taken, in characters. */
const LINES_CHARACTERS_MAX = 8 * 1_024 * 1_024;
/** Of them, those that wait for an older request: past it the oldest is given up, so that they go on. */
const WAITING_CHARACTERS_MAX = LINES_CHARACTERS_MAX / 2;
/** Nobody knows when a recording ends. */
const RETRY_AFTER_MS = 60_000;
const SALT_WORDS = 8;
/** Hex digits of a name: 128 bits. */
const NAME_DIGITS = 32;
const NAMES_KEPT_MAX = 1_024;

export interface RecorderDeps {
  readonly clock: Clock;
  readonly hash: Hash;
  readonly random: Random;
  readonly telemetry: Telemetry;
}

export interface RecorderOptions {
  /** Id of the node's embedder; empty: none. */
  readonly embedder: string;
  /** True where a recording may hold asked texts and vectors. */
  readonly texts: boolean;
}

/** What a line tells of the request itself. */
export interface RecordedSubject {
  readonly operation: string;
  readonly parts: { readonly tenant: string; readonly model: string; readonly modelVersion: string };
  readonly namespaceName: string;
  readonly facts: { readonly askedText: string };
  readonly key: string;
  readonly scope: () => string;
  readonly ttlMs: number;
  /** Monotonic. */
  readonly startedAtMs: number;
}

/** How a request ended. */
export interface RecordedEnd {
  readonly outcome: Outcome;
  readonly detail: string;
  readonly served: Usage;
  readonly cost: number;
}

/** What becomes a line of a recording, filled in on the way of its request. */
export class RecordNote {
  readonly #recording: ActiveRecording;
  #subject: RecordedSubject | undefined;
  #evidence: readonly CandidateEvidence[] = [];
  #embedding: Embedding | undefined;
  #isAnswered = false;
  #bytes = 0;
  #firstTokenMs = 0;
  #modelMs = 0;
  /** Undefined until the request ended; empty: dropped. */
  line: string | undefined;

  constructor(recording: ActiveRecording, subject: RecordedSubject) {
    this.#recording = recording;
    this.#subject = subject;
  }

  /** What semantic matching saw. */
  saw(evidence: readonly CandidateEvidence[], embedding: Embedding | undefined): void {
    this.#evidence = evidence;
    this.#embedding = embedding;
  }

  /** The entry that serves. */
  servedBy({ payload, provenance }: Entry): void {
    this.answered(payload.byteLength, provenance);
  }

  /** The answer that came of a call, wherever it was made. */
  answered(
    bytes: number,
    { firstTokenMs, modelMs }: { readonly firstTokenMs: number; readonly modelMs: number },
  ): void {
    this.#isAnswered = true;
    this.#bytes = bytes;
    this.#firstTokenMs = firstTokenMs;
    this.#modelMs = modelMs;
  }

  /** An answer that another request's call brought: its times are as they are seen from here. */
  followed(
    bytes: number | undefined,
    { firstTokenMs, modelMs }: { readonly firstTokenMs: number; readonly modelMs: number },
  ): void {
    if (this.#isAnswered) return;
    this.answered(bytes ?? this.#bytes, { firstTokenMs: Math.max(0, firstTokenMs), modelMs: Math.max(0, modelMs) });
  }

  /** Chunks of a streamed answer, measured as they pass by. */
  async *measured(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      if (!this.#isAnswered) this.#bytes += chunk.byteLength;
      yield chunk;
    }
  }

  end(end: RecordedEnd): void {
    if (this.#subject === undefined) return;
    const { parts, namespaceName, operation, key, ttlMs, startedAtMs, facts } = this.#subject;
    const { salted, terms, startedAtMs: recordingStartedAtMs } = this.#recording;
    const scope = this.#subject.scope();
    const request: RecordedRequest = {
      tMs: Math.max(0, Math.round(startedAtMs - recordingStartedAtMs)),
      tenant: salted.name('tenant', parts.tenant),
      namespace: salted.name('namespace', namespaceName),
      operation,
      model: parts.model,
      version: parts.modelVersion,
      key: salted.hash('key', key),
      scope: scope === '' ? '' : salted.hash('scope', scope),
      promptTokens: end.served.promptTokens,
      outputTokens: end.served.completionTokens,
      bytes: this.#bytes,
      firstTokenMs: Math.round(this.#firstTokenMs),
      modelMs: Math.round(this.#modelMs),
      cost: end.cost,
      ttlMs: Number.isFinite(ttlMs) ? ttlMs : null,
      outcome: end.outcome === 'hit' ? `hit-${end.detail}` : end.outcome,
      candidates: this.#evidence.map(({ entryId, similarity, probability, vetoes }) => ({
        key: salted.hash('key', entryId),
        similarity,
        probability,
        vetoes,
      })),
      ...(terms.texts && scope !== '' && { text: normaliseAskedText(facts.askedText) }),
      ...(terms.vectors && this.#embedding !== undefined && { vector: base64Of(this.#embedding.vector) }),
    };
    this.leave();
    this.#recording.ended(this, `${JSON.stringify(request)}\n`);
  }

  /** Lets go of the request, which is larger than its line; what ends after that says nothing. */
  leave(): void {
    this.#subject = undefined;
    this.#evidence = [];
    this.#embedding = undefined;
  }

  fail(error: unknown, cancelled: boolean): void {
    const outcome = cancelled ? 'cancelled' : failedOutcome(toRepriseError(error));
    this.end({ outcome, detail: '', served: { promptTokens: 0, completionTokens: 0 }, cost: 0 });
  }
}

/** Makes recordings; while there is none, a request costs one comparison. */
export class Recorder implements Recordings {
  readonly #deps: RecorderDeps;
  readonly #options: RecorderOptions;
  #active: ActiveRecording | undefined;
  #last: ActiveRecording | undefined;

  constructor(deps: RecorderDeps, options: RecorderOptions) {
    this.#deps = { ...deps, random: deps.random.fork('recording') };
    this.#options = options;
  }

  start(terms: RecordingTerms): Recording {
    if (this.#active !== undefined)
      throw new RepriseError('overloaded', 'A recording is under way; there is one at a time.', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    if ((terms.texts || terms.vectors) && !this.#options.texts) {
      throw new RepriseError(
        'permission_denied',
        'This node gives neither texts nor vectors away; its configuration would have to say recording.texts: true.',
      );
    }
    const { clock, telemetry } = this.#deps;
    const { embedder } = this.#options;
    const salted = new Salted(this.#deps);
    const recording = new ActiveRecording({ terms, salted, startedAtMs: clock.monotonicMs(), telemetry });
    const startedAt = isoTime(clock.wallMs());
    recording.open({ schema: RECORD_SCHEMA, startedAt, embedder, hashed: true });
    this.#active = recording;
    this.#last = recording;
    telemetry.log('warn', 'a recording of requests begins', { texts: terms.texts, vectors: terms.vectors });
    return { lines: recording.queue.lines(), stop: () => this.#stop(recording) };
  }

  status(): RecordingStatus {
    const { written = 0, dropped = 0 } = this.#last ?? {};
    return { isRecording: this.#active !== undefined, written, dropped };
  }

  stop(): void {
    if (this.#active !== undefined) this.#stop(this.#active);
  }

  /** A note for a request that has just arrived; undefined while nothing is recorded. */
  begin(subject: RecordedSubject): RecordNote | undefined {
    return this.#active?.begin(subject);
  }

  #stop(recording: ActiveRecording): void {
    if (this.#active !== recording) return;
    this.#active = undefined;
    recording.close();
    const { written, dropped } = recording;
    this.#deps.telemetry.log('info', 'the recording of requests ended', { written, dropped });
  }
}

/** One recording: its notes in the order of arrival, and the lines that wait to be taken. */
class ActiveRecording {
  readonly terms: RecordingTerms;
  readonly salted: Salted;
  readonly startedAtMs: number;
  readonly queue = new LineQueue({ charactersMax: LINES_CHARACTERS_MAX });
  readonly #telemetry: Telemetry;
  #waiting: RecordNote[] = [];
  /** The first note that hasn't gone. */
  #first = 0;
  /** Of the lines of those that haven't gone. */
  #waitingCharacters = 0;
  written = 0;
  dropped = 0;

  constructor(parts: {
    readonly terms: RecordingTerms;
    readonly salted: Salted;
    readonly startedAtMs: number;
    readonly telemetry: Telemetry;
  }) {
    this.terms = parts.terms;
    this.salted = parts.salted;
    this.startedAtMs = parts.startedAtMs;
    this.#telemetry = parts.telemetry;
  }

  open(header: RecordHeader): void {
    this.queue.add(`${JSON.stringify(header)}\n`);
  }

  begin(subject: RecordedSubject): RecordNote {
    const note = new RecordNote(this, subject);
    this.#waiting.push(note);
    // The oldest is still running, or it would have gone.
    if (this.#waiting.length - this.#first > WAITING_MAX) this.#giveUpOldest();
    return note;
  }

  /** Takes a line, or drops it, and hands on what is at the front and has ended. */
  ended(note: RecordNote, line: string): void {
    const hasRoom = this.#waitingCharacters + this.queue.characters + line.length <= LINES_CHARACTERS_MAX;
    note.line = hasRoom ? line : '';
    this.#waitingCharacters += note.line.length;
    this.#handOn();
    while (this.#waitingCharacters > WAITING_CHARACTERS_MAX) this.#giveUpOldest();
  }

  /** What still runs is missing from the recording, and counted so. */
  close(): void {
    for (const note of this.#waiting.slice(this.#first)) this.#leave(note);
    this.#waiting = [];
    this.#first = 0;
    this.queue.end();
  }

  #giveUpOldest(): void {
    this.#leave(this.#waiting[this.#first]!);
    this.#first += 1;
    this.#handOn();
  }

  #handOn(): void {
    const waiting = this.#waiting;
    for (let note = waiting[this.#first]; note?.line !== undefined; note = waiting[this.#first]) {
      this.#first += 1;
      this.#leave(note);
    }
    if (this.#first * 2 > waiting.length) {
      this.#waiting = waiting.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Writes the note's line where there is one. */
  #leave(note: RecordNote): void {
    const { line = '' } = note;
    note.leave();
    this.#waitingCharacters -= line.length;
    if (line === '') this.#drop();
    else this.#write(line);
  }

  #write(line: string): void {
    if (!this.queue.add(line)) return this.#drop();
    this.written += 1;
    this.#telemetry.counter('reprise_recorded_requests_total', 'written').add();
  }

  #drop(): void {
    this.dropped += 1;
    this.#telemetry.counter('reprise_recorded_requests_total', 'dropped').add();
  }
}

/** Names as hashes with a salt that nobody keeps: the same within one recording, and no use outside of it. */
class Salted {
  readonly #hash: Hash;
  readonly #salt: string;
  readonly #names = new Map<string, string>();

  constructor({ hash, random }: { readonly hash: Hash; readonly random: Random }) {
    this.#hash = hash;
    this.#salt = Array.from({ length: SALT_WORDS }, () => random.uint32().toString(16).padStart(8, '0')).join('');
  }

  hash(kind: string, value: string): string {
    return this.#hash.sha256Hex(`${this.#salt}/${kind}/${value}`).slice(0, NAME_DIGITS);
  }

  /** For names of which there are few. */
  name(kind: string, value: string): string {
    const id = `${kind}/${value}`;
    let name = this.#names.get(id);
    if (name === undefined) {
      name = this.hash(kind, value);
      if (this.#names.size >= NAMES_KEPT_MAX) this.#names.clear();
      this.#names.set(id, name);
    }
    return name;
  }
}

/** Little-endian float32 as base64. */
function base64Of(vector: Float32Array): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, at) => view.setFloat32(at * 4, value, true));
  return btoa(String.fromCharCode(...new Uint8Array(view.buffer)));
}
