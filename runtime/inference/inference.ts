import { RepriseError } from '../errors.ts';
import { summarizeAnswer } from '../cache/stored-only.ts';
import type { Clock } from '../ports/clock.ts';
import type { Entry } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';
import type { ModelDirectory } from '../ports/model-directory.ts';
import type {
  CacheStatus,
  Explanation,
  FeedbackRequest,
  Identity,
  InferenceReply,
  InferenceRequest,
  InferenceService,
  InferenceStreamReply,
  InvalidateReply,
  InvalidateRequest,
  LookupReply,
  Readiness,
  Stats,
  StoreRequest,
} from '../ports/service.ts';
import { normaliseAskedText } from '../semantic/asked-text.ts';
import type { Accounting } from './accounting.ts';
import type { Completions } from './completions.ts';
import type { Embeddings } from './embeddings.ts';
import type { Explainer } from './explainer.ts';
import type { Invalidation } from './invalidation.ts';
import type { Lookup } from './lookup.ts';
import type { NodeState } from './node-state.ts';
import type { Prepared, Preparer } from './prepare.ts';
import type { Recorder } from './recorder.ts';
import type { Refusals } from './refusals.ts';
import { calledStatus, converted, entryBody, hitStatus } from './replies.ts';
import { convertible } from './stream-assembly.ts';
import { requireRole } from './roles.ts';
import type { StoreAnswers } from './store-answers.ts';

export interface InferenceDeps {
  readonly clock: Clock;
  readonly preparer: Preparer;
  readonly lookup: Lookup;
  readonly completions: Completions;
  readonly embeddings: Embeddings;
  readonly invalidation: Invalidation;
  readonly explainer: Explainer;
  readonly refusals: Refusals;
  readonly store: StoreAnswers;
  readonly accounting: Accounting;
  readonly models: ModelDirectory;
  readonly peek: (key: string) => Promise<Entry | undefined>;
  readonly status: NodeState;
  readonly recorder: Recorder | undefined;
}

const PAIR_NEEDED = 'Name the entry, or both texts of the pair.';

/** The service interface, in process: what every server, gateway and embedding program calls. */
export class Inference implements InferenceService {
  readonly #deps: InferenceDeps;
  readonly #options: { timeoutMs: number };

  constructor(deps: InferenceDeps, options: { timeoutMs: number }) {
    this.#deps = deps;
    this.#options = options;
  }

  async infer(request: InferenceRequest): Promise<InferenceReply> {
    const prepared = this.#prepare(request);
    if (request.operation === 'embeddings') return this.#deps.embeddings.infer(prepared);
    // Awaited here, since returning a promise from an async function takes two turns more.
    return await this.#deps.completions.infer(prepared);
  }

  async inferStream(request: InferenceRequest): Promise<InferenceStreamReply> {
    const prepared = this.#prepare(request);
    if (request.operation !== 'embeddings') return await this.#deps.completions.inferStream(prepared);
    throw this.#refused(
      prepared.operation,
      prepared.startedAtMs,
      new RepriseError('invalid_request', 'Embeddings are not streamed.', { param: 'stream' }),
    );
  }

  async lookup(request: InferenceRequest): Promise<LookupReply> {
    const prepared = this.#deps.preparer.prepare(request);
    if (request.operation === 'embeddings') {
      const cached = await this.#deps.embeddings.lookup(prepared);
      if (cached !== undefined) return cached;
    } else {
      const result = await this.#deps.lookup.find(prepared);
      const whole = result.kind === 'hit' ? converted(() => entryBody(result.found.entry)) : undefined;
      if (result.kind === 'hit' && whole !== undefined) {
        return { status: hitStatus(result, prepared, this.#deps.clock.wallMs()), ...whole };
      }
    }
    throw new RepriseError('not_cached', 'The answer is not in the cache.');
  }

  async store(request: StoreRequest): Promise<CacheStatus> {
    requireRole(request.identity, 'write', 'Store');
    const { clock, store } = this.#deps;
    const prepared = this.#deps.preparer.prepare(request);
    if (request.operation === 'embeddings') {
      throw new RepriseError(
        'invalid_request',
        'Embeddings are stored item by item when they are made; Store takes completions.',
      );
    }
    if (!convertible(request.operation, 'body', request.answer)) throw notStored();
    const answer = {
      kind: 'body' as const,
      contentType: 'application/json',
      payload: request.answer,
      usageRange: { start: 0, end: 0 },
      ...summarizeAnswer(request.operation, 'body', request.answer),
      calledAtMs: clock.wallMs(),
      modelMs: 0,
      firstTokenMs: 0,
    };
    const stored = await store.storeNow(prepared, answer, {
      deadlineAtMs: clock.monotonicMs() + this.#options.timeoutMs,
    });
    if (!stored) throw notStored();
    return calledStatus(prepared, { outcome: 'miss', detail: '', stored: true });
  }

  invalidate(request: InvalidateRequest): Promise<InvalidateReply> {
    return this.#deps.invalidation.invalidate(request);
  }

  async feedback(request: FeedbackRequest): Promise<void> {
    requireRole(request.identity, 'write', 'Feedback');
    if (request.tenant !== undefined && request.tenant !== request.identity.tenant) {
      requireRole(request.identity, 'admin', "Feedback about another tenant's answers");
    }
    const entry = request.entryId === '' ? undefined : await this.#ownEntry(request);
    if (request.verdict === 'right') return;
    if (request.askedText !== undefined) return this.#refusePair(request, request.askedText, entry);
    if (entry === undefined) throw new RepriseError('invalid_request', PAIR_NEEDED, { param: 'askedText' });
    await this.#invalidateEntry(entry, request.identity);
  }

  /** The entry, when the caller may judge it; absent only where the pair is named by its texts as well. */
  async #ownEntry(request: FeedbackRequest): Promise<Entry | undefined> {
    const { entryId, identity, askedText, storedText } = request;
    const entry = await this.#deps.peek(entryId);
    const foreign = entry !== undefined && entry.tenant !== identity.tenant && identity.role !== 'admin';
    if (entry !== undefined && !foreign) return entry;
    if (entry === undefined && askedText !== undefined && storedText !== undefined) return undefined;
    throw new RepriseError('entry_not_found', 'There is no such entry.', { param: 'entryId' });
  }

  async #refusePair(request: FeedbackRequest, askedText: string, entry: Entry | undefined): Promise<void> {
    const { identity, storedText } = request;
    if (entry === undefined && storedText === undefined) {
      throw new RepriseError('invalid_request', PAIR_NEEDED, { param: 'storedText' });
    }
    const pair = {
      storedKey: entry?.key ?? '',
      storedText: storedText === undefined ? '' : normaliseAskedText(storedText),
      askedText: normaliseAskedText(askedText),
    };
    const tenant = entry?.tenant ?? request.tenant ?? identity.tenant;
    const options = { deadlineAtMs: this.#deps.clock.monotonicMs() + this.#options.timeoutMs };
    if (await this.#deps.refusals.refuse(tenant, pair, options)) return;
    if (entry === undefined) throw new RepriseError('overloaded', 'No further pair can be refused for this tenant.');
    await this.#invalidateEntry(entry, identity);
  }

  async #invalidateEntry(entry: Entry, identity: Identity): Promise<void> {
    const target = { kind: 'entry', entryId: entry.key } as const;
    await this.#deps.invalidation.invalidate({ target, invalidation: 'hard', purge: false, identity });
  }

  async explain(request: InferenceRequest): Promise<Explanation> {
    const { preparer, explainer, embeddings } = this.#deps;
    const prepared = preparer.prepare(request);
    return explainer.explain(prepared, request.operation === 'embeddings' ? embeddings.items(prepared) : [prepared]);
  }

  async stats(identity: Identity): Promise<Stats> {
    requireRole(identity, 'write', 'Stats');
    const { accounting } = this.#deps;
    const { totals } = accounting;
    return {
      requests: totals.requests,
      byOutcome: accounting.byOutcome,
      modelCalls: totals.modelCalls,
      modelCallsSaved: totals.modelCallsSaved,
      tokensBilled: totals.billed,
      tokensSaved: totals.saved,
      costBilled: totals.costBilled,
      costSaved: totals.costSaved,
      ...(await this.#deps.status.stats()),
    };
  }

  models(_identity: Identity): Promise<readonly string[]> {
    return this.#deps.models.list();
  }

  readiness(): Readiness {
    return this.#deps.status.readiness();
  }

  /** Understands the request; a refusal is counted like any other end. */
  #prepare(request: InferenceRequest): Prepared {
    const startedAtMs = this.#deps.clock.monotonicMs();
    try {
      const prepared = this.#deps.preparer.prepare(request, startedAtMs);
      // Embeddings are recorded item by item.
      if (request.operation !== 'embeddings') prepared.recorded = this.#deps.recorder?.begin(prepared);
      return prepared;
    } catch (error) {
      throw this.#refused(request.operation, startedAtMs, error);
    }
  }

  #refused(operation: Operation, startedAtMs: number, error: unknown): unknown {
    this.#deps.accounting.fail(operation, startedAtMs, { error, cancelled: false });
    return error;
  }
}

function notStored(): RepriseError {
  return new RepriseError(
    'invalid_request',
    'The answer was not stored: it must be a complete, successful answer within the size limit, and not older than what is there.',
    { param: 'answer' },
  );
}
