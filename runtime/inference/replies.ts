import { ModelError, assert, hasCode } from '../errors.ts';
import type { FlightHead, Participant } from '../cache/flight.ts';
import { summarizeAnswer } from '../cache/stored-only.ts';
import type { Entry, Usage } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';
import type { CacheStatus } from '../ports/service.ts';
import type { LookupHit } from './lookup.ts';
import type { Prepared } from './prepare.ts';
import { assembleBody, readUsage, synthesizeStream, usageEventRange } from './stream-assembly.ts';

const JSON_TYPE = 'application/json';

/** The status of a hit at wall-clock time `nowMs`. */
export function hitStatus(hit: LookupHit, prepared: Prepared, nowMs: number): CacheStatus {
  const { entry, stale, unconfirmed } = hit.found;
  const status: CacheStatus = {
    outcome: 'hit',
    detail: hit.detail,
    stored: false,
    ageMs: Math.max(0, nowMs - entry.calledAtMs),
    ttlMs: entry.expiresAtMs - nowMs,
    entryId: entry.key,
    unconfirmed,
    stale,
    model: prepared.parts.model,
  };
  if (hit.similarity === undefined) return status;
  return {
    ...status,
    similarity: hit.similarity,
    probability: hit.probability ?? 0,
    domain: prepared.domain().name,
  };
}

/** The status of an answer that came, or comes, from a model call. */
export function calledStatus(
  prepared: Prepared,
  call: { outcome: 'hit' | 'miss' | 'bypass'; detail: string; stored: boolean; ageMs?: number },
): CacheStatus {
  const { ageMs = 0 } = call;
  return {
    outcome: call.outcome,
    detail: call.detail,
    stored: call.stored,
    ageMs,
    ttlMs: call.stored || call.outcome === 'hit' ? prepared.ttlMs - ageMs : 0,
    entryId: call.stored || call.outcome === 'hit' ? prepared.key : '',
    unconfirmed: false,
    stale: false,
    model: prepared.parts.model,
  };
}

/** A stored entry as one whole body. */
export function entryBody(entry: Entry): { contentType: string; body: Uint8Array } {
  if (entry.kind === 'body') return { contentType: entry.contentType, body: entry.payload };
  return { contentType: JSON_TYPE, body: wholeBody(entry.operation, entry.payload) };
}

/** A stored entry as framed events; the usage event only for a client that asked for it. */
export function entryEvents(entry: Entry, includeUsage: boolean): Uint8Array {
  if (entry.kind === 'body') return synthesized(entry.operation, entry.payload, includeUsage);
  if (includeUsage || entry.usageEventEnd === 0) return entry.payload;
  return cut(entry.payload, { start: entry.usageEventStart, end: entry.usageEventEnd });
}

/** A flight's answer as one whole body, and as the upstream gave it. */
export interface FlightAnswer {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly usage: Usage;
  readonly payload: Uint8Array;
  /** Why it must not be stored; empty when it may. */
  readonly refusal: string;
}

/** Reads a flight to its end. */
export async function flightBody(participant: Participant, operation: Operation): Promise<FlightAnswer> {
  const { kind, contentType } = await participant.head();
  const payload = await collect(participant.chunks());
  const { usage, refusal } = summarizeAnswer(operation, kind, payload);
  if (kind === 'body') return { contentType, body: payload, usage, payload, refusal };
  return { contentType: JSON_TYPE, body: wholeBody(operation, payload), usage, payload, refusal };
}

/** A flight's answer as framed events, as they come; reports the usage that passed by. */
export async function* flightEvents(
  participant: Participant,
  head: FlightHead,
  prepared: Prepared,
  onUsage: (usage: Usage) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { operation, facts } = prepared;
  if (head.kind === 'body') {
    const body = await collect(participant.chunks());
    onUsage(readUsage(operation, 'body', body));
    yield synthesized(operation, body, facts.includeUsage);
    return;
  }
  for await (const chunk of participant.chunks()) {
    const range = usageEventRange(chunk);
    if (range === undefined) {
      yield chunk;
      continue;
    }
    onUsage(readUsage(operation, 'stream', chunk.subarray(range.start, range.end)));
    if (facts.includeUsage) yield chunk;
    else if (range.end - range.start < chunk.byteLength) yield cut(chunk, range);
  }
}

function wholeBody(operation: Operation, recording: Uint8Array): Uint8Array {
  const body = assembleBody(operation, recording);
  if (body === undefined) {
    throw new ModelError(
      'model_invalid_answer',
      'The upstream sent a stream that is not a sequence of completion chunks.',
    );
  }
  return body;
}

function synthesized(operation: Operation, body: Uint8Array, includeUsage: boolean): Uint8Array {
  const events = synthesizeStream(operation, body);
  if (includeUsage) return events;
  const range = usageEventRange(events);
  return range === undefined ? events : cut(events, range);
}

function cut(bytes: Uint8Array, range: { start: number; end: number }): Uint8Array {
  assert(range.start <= range.end && range.end <= bytes.byteLength, 'a cut lies inside its bytes');
  const left = new Uint8Array(bytes.byteLength - (range.end - range.start));
  left.set(bytes.subarray(0, range.start), 0);
  left.set(bytes.subarray(range.end), range.start);
  return left;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.byteLength;
  }
  const only = parts[0];
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}

/** What `convert` makes of a stored answer; undefined when it can't be had in that form. */
export function converted<T>(convert: () => T): T | undefined {
  try {
    return convert();
  } catch (error) {
    if (hasCode(error, 'model_invalid_answer')) return undefined;
    throw error;
  }
}
