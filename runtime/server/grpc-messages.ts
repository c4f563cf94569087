import { topLevelMember } from '../../clients/gateway/index.ts';
import { checkedControls, NO_CONTROLS } from '../../clients/gateway/controls.ts';
import * as wire from '../../proto/gen/reprise/v1/inference_cache.ts';
import { RepriseError } from '../errors.ts';
import type { Usage } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';
import type {
  CacheControls,
  CacheStatus,
  Explanation,
  FeedbackRequest,
  Identity,
  InferenceReply,
  InvalidateReply,
  InvalidateRequest,
  InvalidationTarget,
  LookupReply,
  Outcome,
  Stats,
  UsageAccount,
} from '../ports/service.ts';

const MODEL_MEMBER = new TextEncoder().encode('model');
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The operation that a message names; unspecified is chat completions. */
export function operationOf(operation: wire.Operation): Operation {
  switch (operation) {
    case wire.Operation.UNSPECIFIED:
    case wire.Operation.CHAT_COMPLETIONS:
      return 'chat.completions';
    case wire.Operation.COMPLETIONS:
      return 'completions';
    case wire.Operation.EMBEDDINGS:
      return 'embeddings';
    default:
      throw new RepriseError('invalid_request', `There is no operation ${String(operation)}.`, { param: 'operation' });
  }
}

/** The controls of a message, checked. Throws `invalid_control` naming the field. */
export function controlsOf(message: wire.InferRequest): CacheControls {
  const { namespace, domain, bucket, tags, ttlMs, maxAgeMs, threshold, noCache, noStore, onlyIfCached } = message;
  if (
    namespace === '' &&
    domain === '' &&
    bucket === undefined &&
    tags.length === 0 &&
    ttlMs === undefined &&
    maxAgeMs === undefined &&
    threshold === undefined &&
    !(noCache || noStore || onlyIfCached)
  ) {
    return NO_CONTROLS;
  }
  return checkedControls({
    namespace: textOf(namespace),
    domain: textOf(domain),
    bucket,
    tags,
    ttlMs,
    maxAgeMs,
    threshold,
    noCache,
    noStore,
    onlyIfCached,
  });
}

/** proto3 can't tell an absent text from an empty one, and an empty one means nothing to us. */
function textOf(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The request's body, with the message's own model in place of the body's where it names one. */
export function bodyOf(message: wire.InferRequest): Uint8Array {
  return message.model === '' ? message.body : withModel(message.body, message.model);
}

/** Works on the bytes, so that all else stays as it was sent; what isn't an object is refused later, by the cache. */
function withModel(body: Uint8Array, model: string): Uint8Array {
  const value = Buffer.from(JSON.stringify(model));
  const range = topLevelMember(body, MODEL_MEMBER);
  if (range !== undefined) return Buffer.concat([body.subarray(0, range.start), value, body.subarray(range.end)]);
  const start = body.indexOf(OPEN_BRACE) + 1;
  if (start === 0) return body;
  const isEmpty = body[body.findIndex((byte, at) => at >= start && byte > 0x20)] === CLOSE_BRACE;
  const member = Buffer.from(`"model":${value.toString()}${isEmpty ? '' : ','}`);
  return Buffer.concat([body.subarray(0, start), member, body.subarray(start)]);
}

const OUTCOMES: Readonly<Record<Outcome, wire.Outcome>> = {
  hit: wire.Outcome.HIT,
  miss: wire.Outcome.MISS,
  bypass: wire.Outcome.BYPASS,
  refused: wire.Outcome.UNSPECIFIED,
  cancelled: wire.Outcome.UNSPECIFIED,
  error: wire.Outcome.UNSPECIFIED,
};

/** A cache status as a message; a time without an end is left out. */
export function statusMessage(status: CacheStatus): wire.CacheStatus {
  return {
    outcome: OUTCOMES[status.outcome],
    detail: status.detail,
    stored: status.stored,
    ageMs: Math.round(status.ageMs),
    ttlMs: wholeOrAbsent(status.ttlMs),
    entryId: status.entryId,
    similarity: status.similarity,
    probability: status.probability,
    domain: status.domain,
    unconfirmed: status.unconfirmed,
    stale: status.stale,
    model: status.model,
  };
}

function wholeOrAbsent(value: number): number | undefined {
  return Number.isFinite(value) ? Math.round(value) : undefined;
}

/** A usage account as a message. */
export function usageMessage(usage: UsageAccount): wire.UsageAccount {
  return { served: tokens(usage.served), billed: tokens(usage.billed) };
}

function tokens(usage: Usage): wire.Usage {
  return { promptTokens: usage.promptTokens, completionTokens: usage.completionTokens };
}

const NOTHING = new Uint8Array(0);
/** Field 1 of `InferResponse`, length-delimited. */
const BODY_TAG = 0x0a;
const VARINT_BYTES_MAX = 5;

/** A whole answer, encoded. The body comes last, since fields may have any order and this way it is copied once. */
export function encodeReply(reply: InferenceReply): Uint8Array {
  const { body } = reply;
  const fields = wire.InferResponse.encode({
    body: NOTHING,
    status: statusMessage(reply.status),
    usage: usageMessage(reply.usage),
    contentType: reply.contentType,
  }).finish();
  if (body.length === 0) return fields;
  const bytes = Buffer.allocUnsafe(fields.length + 1 + VARINT_BYTES_MAX + body.length);
  bytes.set(fields, 0);
  let at = fields.length;
  bytes[at++] = BODY_TAG;
  for (let length = body.length; ; length >>>= 7) {
    bytes[at++] = length > 0x7f ? (length & 0x7f) | 0x80 : length;
    if (length <= 0x7f) break;
  }
  bytes.set(body, at);
  return bytes.subarray(0, at + body.length);
}

/** A stored answer, encoded. */
export function encodeLookup(reply: LookupReply): Uint8Array {
  const { body, status, contentType } = reply;
  return wire.LookupResponse.encode({ body, status: statusMessage(status), contentType }).finish();
}

/** A message as an invalidation. Throws `invalid_request`. */
export function invalidateRequestOf(message: wire.InvalidateRequest, identity: Identity): InvalidateRequest {
  const { kind, purge, ofTenant } = message;
  if (kind > wire.InvalidationKind.SOFT || kind < 0) {
    throw new RepriseError('invalid_request', 'An invalidation is hard or soft.', { param: 'kind' });
  }
  return {
    target: targetOf(message),
    invalidation: kind === wire.InvalidationKind.SOFT ? 'soft' : 'hard',
    purge,
    identity,
    ...(ofTenant !== '' && { tenant: ofTenant }),
  };
}

function targetOf({ target }: wire.InvalidateRequest): InvalidationTarget {
  if (target === undefined || target.value === '') {
    const message = 'Name exactly one of entry_id, tag, namespace, model and tenant.';
    throw new RepriseError('invalid_request', message, { param: 'target' });
  }
  switch (target.$case) {
    case 'entryId':
      return { kind: 'entry', entryId: target.value };
    case 'tag':
      return { kind: 'tag', tag: target.value };
    case 'namespace':
      return { kind: 'namespace', namespace: target.value };
    case 'model':
      return { kind: 'model', model: target.value };
    case 'tenant':
      return { kind: 'tenant', tenant: target.value };
  }
}

/** What an invalidation did, encoded. */
export function encodeInvalidated(reply: InvalidateReply): Uint8Array {
  return wire.InvalidateResponse.encode({
    sequence: reply.sequence,
    stalenessBoundMs: Math.round(reply.stalenessBoundMs),
    reach: reply.reach === 'grid' ? wire.Reach.GRID : wire.Reach.NODE,
    removedEntries: reply.removedEntries,
  }).finish();
}

/** A message as feedback. Throws `invalid_request`. */
export function feedbackRequestOf(message: wire.FeedbackRequest, identity: Identity): FeedbackRequest {
  const { entryId, verdict, askedText, note, storedText, ofTenant } = message;
  if (entryId === '' && (askedText === '' || storedText === '')) {
    const text = 'entry_id must name the entry, as in a status; or stored_text and asked_text the pair.';
    throw new RepriseError('invalid_request', text, { param: 'entry_id' });
  }
  if (verdict !== wire.Verdict.WRONG && verdict !== wire.Verdict.RIGHT) {
    throw new RepriseError('invalid_request', 'The verdict is wrong or right.', { param: 'verdict' });
  }
  return {
    identity,
    entryId,
    verdict: verdict === wire.Verdict.WRONG ? 'wrong' : 'right',
    ...(askedText !== '' && { askedText }),
    ...(storedText !== '' && { storedText }),
    ...(ofTenant !== '' && { tenant: ofTenant }),
    ...(note !== '' && { note }),
  };
}

/** An explanation, encoded. */
export function encodeExplanation(explanation: Explanation): Uint8Array {
  const { status, reasons, semantic, nearest, ...names } = explanation;
  return wire.ExplainResponse.encode({
    ...names,
    status: statusMessage(status),
    reasons: [...reasons],
    semantic: {
      ...semantic,
      candidates: semantic.candidates.map((candidate) => ({
        ...candidate,
        vetoes: [...candidate.vetoes],
        guards: [...candidate.guards],
        unknown: [...candidate.unknown],
      })),
      policies: semantic.policies.map((policy) => ({ ...policy, guards: [...policy.guards] })),
    },
    nearest: nearest && { entryId: nearest.entryId, differingFields: [...nearest.differingFields] },
  }).finish();
}

/** Counters, encoded. */
export function encodeStats(stats: Stats): Uint8Array {
  return wire.StatsResponse.encode({
    ...stats,
    byOutcome: { ...stats.byOutcome },
    tokensBilled: tokens(stats.tokensBilled),
    tokensSaved: tokens(stats.tokensSaved),
    entryBytes: Math.round(stats.entryBytes),
    ledgerConfirmedAgeMs: wholeOrAbsent(stats.ledgerConfirmedAgeMs),
    uptimeMs: Math.round(stats.uptimeMs),
  }).finish();
}
