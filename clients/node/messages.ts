import * as wire from '../../proto/gen/reprise/v1/inference_cache.ts';
import type {
  CacheStatus,
  Explanation,
  Feedback,
  GuardVerdict,
  InferInput,
  InferReply,
  InferSettings,
  InvalidateReply,
  InvalidateSettings,
  InvalidationTarget,
  LookupReply,
  Operation,
  Stats,
  Usage,
  UsageAccount,
} from './types.ts';

const OPERATIONS: Readonly<Record<Operation, wire.Operation>> = {
  'chat.completions': wire.Operation.CHAT_COMPLETIONS,
  completions: wire.Operation.COMPLETIONS,
  embeddings: wire.Operation.EMBEDDINGS,
};

const UINT32_MAX = 2 ** 32 - 1;

const encoder = new TextEncoder();

/** A request with its controls as a message. */
export function inferMessage(request: InferInput, settings: InferSettings): wire.InferRequest {
  const { operation, namespace, domain, bucket, tags, ttlMs, maxAgeMs, threshold } = settings;
  const body = request instanceof Uint8Array ? request : encoder.encode(JSON.stringify(request));
  return {
    operation: OPERATIONS[operation ?? operationOf(request)],
    body,
    model: '',
    namespace: namespace ?? '',
    domain: domain ?? '',
    bucket: bucket === undefined ? undefined : whole(bucket, UINT32_MAX),
    tags: tags === undefined ? [] : [...tags],
    ttlMs: ttlMs === undefined ? undefined : whole(Math.round(ttlMs), -1),
    maxAgeMs: maxAgeMs === undefined ? undefined : whole(Math.round(Math.min(maxAgeMs, Number.MAX_SAFE_INTEGER)), -1),
    threshold,
    noCache: settings.noCache === true,
    noStore: settings.noStore === true,
    onlyIfCached: settings.onlyIfCached === true,
  };
}

/** A number that can't travel goes as one that the server refuses, with the reason in its own words. */
function whole(value: number, refused: number): number {
  return Number.isSafeInteger(value) && value >= 0 && (refused < 0 || value <= refused) ? value : refused;
}

function operationOf(request: InferInput): Operation {
  if (request instanceof Uint8Array || 'messages' in request) return 'chat.completions';
  return 'input' in request ? 'embeddings' : 'completions';
}

/** A status from its message. */
export function statusFrom(message: wire.CacheStatus | undefined): CacheStatus {
  const { outcome, ttlMs, similarity, probability, domain, model, ...rest } = message ?? NO_STATUS;
  return {
    outcome: outcome === wire.Outcome.HIT ? 'hit' : outcome === wire.Outcome.BYPASS ? 'bypass' : 'miss',
    ...rest,
    ttlMs: ttlMs ?? Infinity,
    ...(similarity !== undefined && { similarity }),
    ...(probability !== undefined && { probability }),
    ...(domain !== undefined && { domain }),
    ...(model !== undefined && { model }),
  };
}

const NO_STATUS: wire.CacheStatus = {
  outcome: wire.Outcome.UNSPECIFIED,
  detail: '',
  stored: false,
  ageMs: 0,
  entryId: '',
  unconfirmed: false,
  stale: false,
};
const NO_TOKENS: Usage = { promptTokens: 0, completionTokens: 0 };

/** A usage account from its message. */
export function usageFrom(message: wire.UsageAccount | undefined): UsageAccount {
  return { served: message?.served ?? NO_TOKENS, billed: message?.billed ?? NO_TOKENS };
}

/** A whole answer from its message. */
export function replyFrom(message: wire.InferResponse): InferReply {
  return { ...lookupFrom(message), usage: usageFrom(message.usage) };
}

/** A stored answer from its message. */
export function lookupFrom(message: wire.LookupResponse): LookupReply {
  return { status: statusFrom(message.status), contentType: message.contentType, body: message.body };
}

/** An invalidation as a message. */
export function invalidateMessage(target: InvalidationTarget, settings: InvalidateSettings): wire.InvalidateRequest {
  const { invalidation, purge = false, tenant = '' } = settings;
  const kind = invalidation === 'soft' ? wire.InvalidationKind.SOFT : wire.InvalidationKind.HARD;
  return { target: targetMessage(target), kind, purge, ofTenant: tenant };
}

function targetMessage(target: InvalidationTarget): NonNullable<wire.InvalidateRequest['target']> {
  switch (target.kind) {
    case 'entry':
      return { $case: 'entryId', value: target.entryId };
    case 'tag':
      return { $case: 'tag', value: target.tag };
    case 'namespace':
      return { $case: 'namespace', value: target.namespace };
    case 'model':
      return { $case: 'model', value: target.model };
    case 'tenant':
      return { $case: 'tenant', value: target.tenant };
  }
}

/** What an invalidation did, from its message. */
export function invalidatedFrom(message: wire.InvalidateResponse): InvalidateReply {
  return { ...message, reach: message.reach === wire.Reach.GRID ? 'grid' : 'node' };
}

/** Feedback as a message. */
export function feedbackMessage(feedback: Feedback): wire.FeedbackRequest {
  const { entryId, askedText = '', storedText = '', tenant = '', note = '' } = feedback;
  const verdict = feedback.verdict === 'wrong' ? wire.Verdict.WRONG : wire.Verdict.RIGHT;
  return { entryId, verdict, askedText, note, storedText, ofTenant: tenant };
}

/** An explanation from its message. */
export function explanationFrom(message: wire.ExplainResponse): Explanation {
  const { status, semantic, nearest, ...rest } = message;
  return {
    ...rest,
    status: statusFrom(status),
    semantic: semanticFrom(semantic),
    ...(nearest !== undefined && { nearest }),
  };
}

function semanticFrom(message: wire.SemanticExplanation | undefined): Explanation['semantic'] {
  const { candidates, policies, ...rest } = message ?? NO_SEMANTIC;
  return {
    ...rest,
    candidates: candidates.map(({ guards, verified, ...candidate }) => ({
      ...candidate,
      guards: guards.map(({ name, verdict }) => ({ name, verdict: verdictOf(verdict) })),
      ...(verified !== undefined && { verified }),
    })),
    policies: policies.map(({ verifiedMin, ...policy }) => ({
      ...policy,
      ...(verifiedMin !== undefined && { verifiedMin }),
    })),
  };
}

/** A verdict that a newer server may add counts as a veto. */
function verdictOf(verdict: string): GuardVerdict['verdict'] {
  return verdict === 'clear' || verdict === 'unknown' || verdict === 'off' ? verdict : 'veto';
}

const NO_SEMANTIC: wire.SemanticExplanation = {
  mode: '',
  domain: '',
  threshold: 0,
  candidates: [],
  domainReason: '',
  policies: [],
  verifier: '',
  calibration: '',
};

/** Counters from their message. */
export function statsFrom(message: wire.StatsResponse): Stats {
  const { tokensBilled, tokensSaved, ledgerConfirmedAgeMs, ...rest } = message;
  return {
    ...rest,
    tokensBilled: tokensBilled ?? NO_TOKENS,
    tokensSaved: tokensSaved ?? NO_TOKENS,
    ledgerConfirmedAgeMs: ledgerConfirmedAgeMs ?? Infinity,
  };
}
