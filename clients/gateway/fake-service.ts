import type { Identity, InferenceReply, InferenceRequest, InferenceService } from '../../runtime/ports/service.ts';
import type {
  CacheStatus,
  Explanation,
  FeedbackRequest,
  InferenceStreamReply,
  InvalidateReply,
  InvalidateRequest,
  LookupReply,
  Readiness,
  Stats,
  StoreRequest,
  UsageAccount,
} from '../../runtime/ports/service.ts';
import { RepriseError } from '../../runtime/errors.ts';

const encoder = new TextEncoder();
const NO_USAGE: UsageAccount = {
  served: { promptTokens: 3, completionTokens: 2 },
  billed: { promptTokens: 0, completionTokens: 0 },
};

/** A status as of an exact hit, changed where told; for tests. */
export function hitStatus(changes: Partial<CacheStatus> = {}): CacheStatus {
  return {
    outcome: 'hit',
    detail: 'exact-l1',
    stored: false,
    ageMs: 12_900,
    ttlMs: 3_600_000,
    entryId: 'ab'.repeat(32),
    unconfirmed: false,
    stale: false,
    model: 'demo',
    ...changes,
  };
}

/** A status as of a miss whose answer will be stored; for tests. */
export const MISS_STATUS: CacheStatus = hitStatus({ outcome: 'miss', detail: '', stored: true, ageMs: 0 });

/** A reader's identity; for tests. */
export const READER: Identity = { tenant: 'acme', role: 'read', verified: true };

/** A reply with this JSON; for tests. */
export function jsonReply(document: unknown, status: CacheStatus = hitStatus()): InferenceReply {
  return { status, contentType: 'application/json', body: encoder.encode(JSON.stringify(document)), usage: NO_USAGE };
}

/** One framed event; for tests. */
export function eventOf(document: unknown): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(document)}\n\n`);
}

/** A streamed reply of these chunks; for tests. */
export function streamReply(
  chunks: AsyncIterable<Uint8Array>,
  status: CacheStatus = MISS_STATUS,
): InferenceStreamReply {
  return { status, chunks, usage: () => NO_USAGE };
}

/** A service in memory whose answers a test sets one by one; it keeps what it was asked. Tests only. */
export class FakeService implements InferenceService {
  readonly requests: InferenceRequest[] = [];
  readonly invalidations: InvalidateRequest[] = [];
  readonly feedbacks: FeedbackRequest[] = [];
  modelNames: readonly string[] = ['demo'];
  ready = true;
  onInfer: (request: InferenceRequest) => Promise<InferenceReply> = async () => jsonReply({ ok: true });
  onStream: (request: InferenceRequest) => Promise<InferenceStreamReply> = async () => {
    throw new RepriseError('internal', 'no stream was set');
  };
  onLookup: (request: InferenceRequest) => Promise<LookupReply> = async () => {
    throw new RepriseError('not_cached', 'Nothing is stored for this request.');
  };

  infer(request: InferenceRequest): Promise<InferenceReply> {
    this.requests.push(request);
    return this.onInfer(request);
  }

  inferStream(request: InferenceRequest): Promise<InferenceStreamReply> {
    this.requests.push(request);
    return this.onStream(request);
  }

  lookup(request: InferenceRequest): Promise<LookupReply> {
    this.requests.push(request);
    return this.onLookup(request);
  }

  async store(_request: StoreRequest): Promise<CacheStatus> {
    return MISS_STATUS;
  }

  async invalidate(request: InvalidateRequest): Promise<InvalidateReply> {
    this.invalidations.push(request);
    return { sequence: 7, stalenessBoundMs: 2_000, reach: 'grid', removedEntries: 0 };
  }

  async feedback(request: FeedbackRequest): Promise<void> {
    this.feedbacks.push(request);
  }

  async explain(request: InferenceRequest): Promise<Explanation> {
    this.requests.push(request);
    return {
      key: 'k',
      scope: 's',
      tenant: request.identity.tenant,
      namespace: request.controls.namespace ?? 'default',
      model: 'demo',
      modelVersion: '',
      status: hitStatus({ ttlMs: Infinity }),
      reasons: [],
      semantic: {
        mode: 'off',
        domain: 'default',
        threshold: 0.91,
        candidates: [],
        domainReason: '',
        policies: [],
        verifier: '',
        calibration: '',
      },
    };
  }

  async stats(_identity: Identity): Promise<Stats> {
    const none = { promptTokens: 0, completionTokens: 0 };
    return {
      requests: 1,
      byOutcome: { hit: 1 },
      modelCalls: 0,
      modelCallsSaved: 1,
      tokensBilled: none,
      tokensSaved: none,
      costBilled: 0,
      costSaved: 0,
      entries: 1,
      entryBytes: 10,
      vectors: 0,
      evictions: 0,
      ledgerSequence: 0,
      ledgerConfirmedAgeMs: 0,
      semantic: 'off',
      uptimeMs: 1,
    };
  }

  async models(_identity: Identity): Promise<readonly string[]> {
    return this.modelNames;
  }

  readiness(): Readiness {
    return { ready: this.ready, parts: [{ name: 'grid', state: this.ready ? 'ready' : 'failed', detail: '' }] };
  }
}
