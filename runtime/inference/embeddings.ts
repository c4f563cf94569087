import { RepriseError, toRepriseError, assert } from '../errors.ts';
import { keyedJson, upstreamBody, type CanonicalRequest } from '../cache/canonical-request.ts';
import type { JsonValue } from '../cache/json.ts';
import { deriveKey } from '../cache/key.ts';
import { canonicalJson } from '../cache/json.ts';
import type { Ledger } from '../cache/ledger.ts';
import type { Found, Tiers } from '../cache/tiers.ts';
import type { CallOptions } from '../ports/call-options.ts';
import { NEVER_CANCELLED } from '../ports/cancel-signal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Hash } from '../ports/hash.ts';
import type { CacheStatus, HitDetail, InferenceReply } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { NO_USAGE, addUsage, costOf, type Accounting } from './accounting.ts';
import type { CredentialWatch } from './credential-watch.ts';
import { inputItems, joinAnswer, splitAnswer, withItems, type EmbeddingItem } from './embedding-items.ts';
import { ItemFlights } from './item-flights.ts';
import { signalOf, type Prepared } from './prepare.ts';
import type { RecordedEnd, Recorder } from './recorder.ts';
import type { StoreAnswers } from './store-answers.ts';

export interface EmbeddingsDeps {
  readonly clock: Clock;
  readonly hash: Hash;
  readonly telemetry: Telemetry;
  readonly ledger: Ledger;
  readonly tiers: Tiers;
  readonly store: StoreAnswers;
  readonly accounting: Accounting;
  readonly credentials: CredentialWatch | undefined;
  readonly recorder: Recorder | undefined;
  readonly background: (task: string, work: () => Promise<void>) => void;
}

const DECODER = new TextDecoder();
const ENCODER = new TextEncoder();

type Source = 'called' | HitDetail;

interface Slot {
  /** The request for this item alone: its key is what a single-item request would have. */
  readonly prepared: Prepared;
  readonly value: JsonValue;
  item: EmbeddingItem | undefined;
  source: Source;
  found: Found | undefined;
}

/** Embeddings: each item has a key of its own; only the misses are sent, and every vector goes back to its place. */
export class Embeddings {
  readonly #deps: EmbeddingsDeps;
  readonly #options: { lookupBudgetMs: number; modelTimeoutMs: number };
  readonly #flights: ItemFlights<EmbeddingItem>;

  constructor(deps: EmbeddingsDeps, options: { lookupBudgetMs: number; modelTimeoutMs: number }) {
    this.#deps = deps;
    this.#options = options;
    this.#flights = new ItemFlights();
  }

  async infer(prepared: Prepared): Promise<InferenceReply> {
    const slots = this.#slots(prepared);
    for (const slot of slots) slot.prepared.recorded = this.#deps.recorder?.begin(slot.prepared);
    try {
      const bypass = await this.#lookUp(prepared, slots);
      await this.#callForMisses(prepared, slots);
      for (const slot of slots) this.#count(prepared, slot, bypass);
      this.#refresh(prepared, slots);
      return this.#reply(prepared, slots, bypass);
    } catch (error) {
      this.#countFailure(prepared, slots, error);
      throw error;
    }
  }

  /** What is cached, without calling or counting: undefined when an item is missing. */
  async lookup(prepared: Prepared): Promise<InferenceReply | undefined> {
    const slots = this.#slots(prepared);
    await this.#lookUp(prepared, slots);
    if (slots.some((slot) => slot.item === undefined)) return undefined;
    return this.#reply(prepared, slots, '');
  }

  /** The requests for each item alone: their keys are what the items are stored under. */
  items(prepared: Prepared): readonly Prepared[] {
    return this.#slots(prepared).map((slot) => slot.prepared);
  }

  /** Items of one request: each keyed by the request without its input, and the item. */
  #slots(prepared: Prepared): Slot[] {
    const { facts, tree } = prepared.canonical();
    const rest = new Map(tree);
    rest.delete('input');
    const restText = keyedJson(rest, prepared.namespace.isolateUser);
    return inputItems(tree).map((value) => {
      const itemHash = this.#deps.hash.sha256Hex(`reprise/embedding-item/1\n${restText}\n${canonicalJson(value)}`);
      const key = deriveKey(this.#deps.hash, prepared.parts, itemHash);
      const canonical = (): CanonicalRequest => ({ facts, tree: withItems(tree, [value]) });
      return {
        prepared: { ...prepared, key, canonical },
        value,
        item: undefined,
        source: 'called',
        found: undefined,
      };
    });
  }

  async #lookUp(prepared: Prepared, slots: readonly Slot[]): Promise<string> {
    if (prepared.bypass !== '') return prepared.bypass;
    if (prepared.controls.noCache === true) return 'no-cache';
    const { clock, telemetry } = this.#deps;
    const startedAtMs = clock.monotonicMs();
    const options: CallOptions = {
      deadlineAtMs: startedAtMs + this.#options.lookupBudgetMs,
      signal: signalOf(prepared),
    };
    const keys = slots.map((slot) => slot.prepared.key);
    try {
      const founds = await this.#deps.tiers.getAll(keys, prepared.terms, options);
      for (const slot of slots) {
        const found = founds.get(slot.prepared.key);
        if (found === undefined) continue;
        slot.found = found;
        slot.source = found.stale ? 'stale' : found.tier;
        slot.item = { vectorJson: DECODER.decode(found.entry.payload), usage: found.entry.usage };
      }
      return '';
    } catch (error) {
      if (signalOf(prepared).aborted) throw error;
      const { code } = toRepriseError(error);
      telemetry.counter('reprise_bypasses_total', code).add();
      return code;
    } finally {
      const seconds = (clock.monotonicMs() - startedAtMs) / 1_000;
      telemetry.histogram('reprise_lookup_seconds', prepared.operation).observe(seconds);
    }
  }

  async #callForMisses(prepared: Prepared, slots: readonly Slot[]): Promise<void> {
    const missing = slots.filter((slot) => slot.item === undefined);
    if (missing.length === 0) return;
    if (prepared.controls.onlyIfCached === true) {
      throw new RepriseError('not_cached', 'Not every item is in the cache and the request said only-if-cached.');
    }
    const alone = prepared.bypass !== '' || prepared.controls.noCache === true || prepared.controls.noStore === true;
    const byKey = this.#byFlight(missing);
    const results = await this.#flights.fetch([...byKey.keys()], {
      alone,
      signal: signalOf(prepared),
      lead: (ids, signal) =>
        this.#call(
          prepared,
          ids.map((id) => byKey.get(id)![0]!),
          signal,
        ),
    });
    for (const [id, same] of byKey) {
      const result = results.get(id);
      assert(result !== undefined, 'every item that was fetched has a result');
      same.forEach((slot, index) => {
        slot.item = result.value;
        slot.source = result.led && index === 0 ? 'called' : 'coalesced';
      });
    }
  }

  /** Slots by flight: an item that was invalidated never joins a call from before. */
  #byFlight(slots: readonly Slot[]): Map<string, Slot[]> {
    const byFlight = new Map<string, Slot[]>();
    for (const slot of slots) {
      const { key, parts } = slot.prepared;
      const id = `${key}@${this.#deps.ledger.flightPosition({ ...parts, key })}`;
      const same = byFlight.get(id);
      if (same === undefined) byFlight.set(id, [slot]);
      else same.push(slot);
    }
    return byFlight;
  }

  /** Fetches fresh vectors for stale ones that were just served; joins what is under way. */
  #refresh(prepared: Prepared, slots: readonly Slot[]): void {
    const stale = slots.filter((slot) => slot.source === 'stale');
    if (stale.length === 0 || prepared.controls.onlyIfCached === true || !this.#deps.store.wanted(prepared)) return;
    const byFlight = this.#byFlight(stale);
    this.#deps.background('refresh', async () => {
      await this.#flights.fetch([...byFlight.keys()], {
        alone: false,
        signal: NEVER_CANCELLED,
        lead: (ids, signal) =>
          this.#call(
            prepared,
            ids.map((id) => byFlight.get(id)![0]!),
            signal,
          ),
      });
    });
  }

  /** One upstream call for the items that nobody else is fetching. */
  async #call(
    prepared: Prepared,
    slots: readonly Slot[],
    signal: AbortSignal,
  ): Promise<{ values: readonly EmbeddingItem[]; settled: Promise<void> }> {
    const { clock, accounting, credentials } = this.#deps;
    const { identity, resolved } = prepared;
    const startedAtMs = clock.monotonicMs();
    const calledAtMs = clock.wallMs();
    const values = slots.map((slot) => slot.value);
    try {
      const reply = await resolved.model.call(
        {
          operation: 'embeddings',
          model: prepared.facts.model,
          body: upstreamBody(withItems(prepared.canonical().tree, values), { stream: false }),
          ...(identity.credential === undefined ? {} : { credential: identity.credential }),
          ...(prepared.traceparent === undefined ? {} : { traceparent: prepared.traceparent }),
        },
        { signal, deadlineAtMs: startedAtMs + this.#options.modelTimeoutMs },
      );
      const items = splitAnswer(reply.body, values);
      const modelMs = clock.monotonicMs() - startedAtMs;
      const billed = items.reduce((sum, item) => addUsage(sum, item.usage), NO_USAGE);
      const cost = costOf(billed, resolved.rule.price);
      accounting.modelCall({
        operation: 'embeddings',
        upstream: resolved.upstream,
        result: 'ok',
        ms: modelMs,
        billed,
        cost,
      });
      if (identity.credential !== undefined) credentials?.accepted(identity.credential, startedAtMs);
      // One task for the whole batch: the store queue bounds what waits.
      const stores = items.map((item, index) => this.#offer(slots[index]!, item, calledAtMs, modelMs));
      const settled = Promise.all(stores).then(() => undefined);
      this.#deps.background('store', () => settled);
      return { values: items, settled: settled.catch(() => undefined) };
    } catch (error) {
      const coded = toRepriseError(error);
      const result = signal.aborted ? 'cancelled' : coded.code;
      const ms = clock.monotonicMs() - startedAtMs;
      accounting.modelCall({
        operation: 'embeddings',
        upstream: resolved.upstream,
        result,
        ms,
        billed: NO_USAGE,
        cost: 0,
      });
      const status = 'status' in coded ? coded.status : undefined;
      if (identity.credential !== undefined && (status === 401 || status === 403))
        credentials?.rejected(identity.credential);
      throw error;
    }
  }

  #offer(slot: Slot, item: EmbeddingItem, calledAtMs: number, modelMs: number): Promise<void> {
    const answer = {
      kind: 'body' as const,
      contentType: 'application/json',
      payload: ENCODER.encode(item.vectorJson),
      usageRange: { start: 0, end: 0 },
      usage: item.usage,
      refusal: '',
      systemFingerprint: '',
      calledAtMs,
      modelMs,
      firstTokenMs: modelMs,
    };
    slot.prepared.recorded?.answered(answer.payload.byteLength, { firstTokenMs: modelMs, modelMs });
    return this.#deps.store.offer(slot.prepared, answer, undefined);
  }

  #reply(prepared: Prepared, slots: readonly Slot[], bypass: string): InferenceReply {
    const items = slots.map((slot) => slot.item!);
    const called = slots.filter((slot) => slot.source === 'called');
    const served = items.reduce((sum, item) => addUsage(sum, item.usage), NO_USAGE);
    const billed = called.reduce((sum, slot) => addUsage(sum, slot.item!.usage), NO_USAGE);
    return {
      status: this.#status(prepared, slots, called.length, bypass),
      contentType: 'application/json',
      body: joinAnswer(items, prepared.facts.model),
      usage: { served, billed },
    };
  }

  #status(prepared: Prepared, slots: readonly Slot[], calledCount: number, bypass: string): CacheStatus {
    const nowMs = this.#deps.clock.wallMs();
    const founds = slots.flatMap((slot) => (slot.found === undefined ? [] : [slot.found]));
    const hits = slots.length - calledCount;
    const stored = calledCount > 0 && this.#deps.store.wanted(prepared);
    const base = {
      stored,
      ageMs: Math.max(0, ...founds.map((found) => nowMs - found.entry.calledAtMs)),
      ttlMs: founds.length === 0 ? prepared.ttlMs : Math.min(...founds.map((found) => found.entry.expiresAtMs - nowMs)),
      entryId: slots.length === 1 ? slots[0]!.prepared.key : '',
      unconfirmed: founds.some((found) => found.unconfirmed),
      stale: founds.some((found) => found.stale),
      model: prepared.parts.model,
    };
    if (calledCount === 0) return { ...base, outcome: 'hit', detail: worst(slots) };
    if (bypass !== '') return { ...base, outcome: 'bypass', detail: bypass };
    return { ...base, outcome: 'miss', detail: hits === 0 ? '' : `partial-${hits}/${slots.length}` };
  }

  #count(prepared: Prepared, slot: Slot, bypass: string): void {
    const usage = slot.item!.usage;
    const cost = costOf(usage, prepared.resolved.rule.price);
    const isCalled = slot.source === 'called';
    const outcome = isCalled ? (bypass === '' ? 'miss' : 'bypass') : 'hit';
    const detail = isCalled ? bypass : slot.source;
    noteEnd(slot, { outcome, detail, served: usage, cost });
    const { operation, startedAtMs } = prepared;
    this.#deps.accounting.finish({ operation, startedAtMs, served: usage, cost, outcome, detail });
  }

  #countFailure(prepared: Prepared, slots: readonly Slot[], error: unknown): void {
    const failure = { error, cancelled: signalOf(prepared).aborted };
    for (const slot of slots) {
      slot.prepared.recorded?.fail(error, failure.cancelled);
      this.#deps.accounting.fail(prepared.operation, prepared.startedAtMs, failure);
    }
  }
}

/** Tells a recording how an item ended. */
function noteEnd({ prepared, item, found }: Slot, end: RecordedEnd): void {
  const note = prepared.recorded;
  if (note === undefined) return;
  if (found !== undefined) note.servedBy(found.entry);
  else note.followed(item!.vectorJson.length, { firstTokenMs: 0, modelMs: 0 });
  note.end(end);
}

/** The detail of a wholly cached batch: the least direct of its items'. */
function worst(slots: readonly Slot[]): HitDetail {
  const order: readonly HitDetail[] = ['stale', 'coalesced', 'exact-l2', 'exact-l1'];
  return order.find((detail) => slots.some((slot) => slot.source === detail)) ?? 'exact-l1';
}
