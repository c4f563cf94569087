import { assert, hasCode, RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Grid } from '../ports/grid.ts';
import type { InvalidationKind, LedgerHead, LedgerPosition } from '../ports/ledger.ts';
import type { Random } from '../ports/random.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { AppendQueue } from './append-queue.ts';
import { ConfirmLoop } from './confirm-loop.ts';
import { incarnationRandom, isEncodableName } from './ledger-codec.ts';
import type { LedgerNames } from './ledger-names.ts';
import { LedgerStore } from './ledger-store.ts';
import type { FoundHead, ReadableHead } from './ledger-store.ts';
import { isSelfContained, LedgerView } from './ledger-view.ts';
import type { Validity } from './ledger-view.ts';

/** How sure a node may be of what it knows: `unusable` means that no tier may be read. */
export type Freshness = 'confirmed' | 'unconfirmed' | 'unusable';

/** The ledger's limits. */
export interface LedgerOptions {
  readonly stalenessBoundMs: number;
  readonly unconfirmedMs: number;
  readonly confirmIntervalMs: number;
  /** Deadline of one grid call. */
  readonly callTimeoutMs: number;
  /** Names that a node and the grid keep marks of; past it the floor rises. Default 100,000. */
  readonly marksMax?: number;
  /** Records in the head's list. Default 256. */
  readonly recordsMax?: number;
}

/** An entry, or what will be one, as the ledger judges it. */
export interface Positioned extends LedgerNames {
  readonly position: LedgerPosition;
}

const MARKS_MAX = 100_000;
const RECORDS_MAX = 256;
const NAME_LENGTH_MAX = 1_024;
const APPENDS_WAITING_MAX = 1_024;
const APPEND_ATTEMPTS_MAX = 128;
const SETTLE_ATTEMPTS_MAX = 16;
const BACK_OFF_MS = 2;
const BACK_OFF_MS_MAX = 100;
/** A confirmation that has to read all marks takes many calls. */
const CONFIRM_DEADLINE_MS = 30_000;
const SWEEP_DEADLINE_MS = 600_000;

/**
 * The invalidation record of the fleet as one node takes part in it (DESIGN §4). Judging is synchronous; appending and
 * confirming go to the grid. Rules that hold at every suspension point:
 * - L1 the view only goes to a head that succeeds the one it holds, or to one of a higher incarnation;
 * - L2 the confirmed age counts from before the read whose head the view went to;
 * - L3 a head is replaced only by compare-and-set on the version that the decision was made on.
 */
export class Ledger {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #telemetry: Telemetry;
  readonly #options: LedgerOptions;
  readonly #recordsMax: number;
  readonly #store: LedgerStore;
  readonly #view: LedgerView;
  readonly #appends: AppendQueue;
  readonly #loop: ConfirmLoop;
  readonly #stopping = new AbortController();
  readonly #resetListeners = new Set<() => void>();
  readonly #beginListeners = new Set<() => void>();
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #counterMax = 0;
  #epoch = 0;
  #sweep: Promise<void> | undefined;

  constructor(deps: { grid: Grid; clock: Clock; random: Random; telemetry: Telemetry }, options: LedgerOptions) {
    assert((options.recordsMax ?? RECORDS_MAX) >= 2, 'the list holds the last known record beside a new one');
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#telemetry = deps.telemetry;
    this.#options = options;
    this.#recordsMax = options.recordsMax ?? RECORDS_MAX;
    this.#store = new LedgerStore(deps.grid, deps.clock, options.callTimeoutMs);
    this.#view = new LedgerView(options.marksMax ?? MARKS_MAX);
    this.#appends = new AppendQueue(deps.clock, APPENDS_WAITING_MAX);
    this.#loop = new ConfirmLoop(deps.clock, deps.telemetry, {
      intervalMs: options.confirmIntervalMs,
      confirm: () => this.confirm(this.#background(CONFIRM_DEADLINE_MS)),
      confirmedAgeMs: () => this.confirmedAgeMs(),
      listen: (changed) => this.#store.listen(changed),
    });
  }

  /** Where the ledger stands; undefined before the first head, when no tier may be read or written. */
  get position(): LedgerPosition | undefined {
    return this.#view.position;
  }

  /** Rises at each reset: answers of calls that began in an earlier epoch are not stored. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Rises with every change that may change a judgement; what `validSince` takes. */
  get revision(): number {
    return this.#view.revision;
  }

  /** Starts confirming: at once, then at every interval and when the head changes. */
  start(): void {
    this.#loop.start();
  }

  /** Stops confirming and gives up background work. */
  async stop(): Promise<void> {
    this.#stopping.abort(new RepriseError('cancelled', 'The node is stopping.'));
    await this.#loop.stop();
    await this.#sweep;
  }

  /** Reads the head once and goes along with it, or begins a new incarnation. Fails as the grid does. */
  async confirm(options: CallOptions): Promise<void> {
    await this.#settle(options);
  }

  /** Milliseconds since the start of the last read that confirmed what this node knows; Infinity before the first. */
  confirmedAgeMs(): number {
    return this.#clock.monotonicMs() - this.#confirmedAtMs;
  }

  freshness(strict: boolean): Freshness {
    const ageMs = this.#clock.monotonicMs() - this.#confirmedAtMs;
    if (ageMs <= this.#options.stalenessBoundMs) return 'confirmed';
    if (strict || ageMs > this.#options.stalenessBoundMs + this.#options.unconfirmedMs) return 'unusable';
    return 'unconfirmed';
  }

  /** Oldest answer of a call that others made, by the start of the call, that a reader may share now, milliseconds. */
  sharedAgeMsMax(strict: boolean): number {
    return strict && this.freshness(true) !== 'confirmed' ? this.#options.stalenessBoundMs : Infinity;
  }

  /** Judges an entry; `stale` when only soft marks came after it. */
  validity(entry: Positioned): Validity {
    return this.#view.validity(entry, entry.position);
  }

  /** True when nothing changed since `revision`: what was found valid then still is. */
  validSince(revision: number): boolean {
    return revision === this.#view.revision;
  }

  /** True when any name was marked, hard or soft, after the position, or the position says nothing any more. */
  markedSince(answer: Positioned): boolean {
    return this.#view.validity(answer, answer.position) !== 'valid';
  }

  /** Highest sequence at which any of the names was marked; 0 for none. */
  lastMark(names: LedgerNames): number {
    return this.#view.lastMark(names);
  }

  /** The part of a flight's identity that an invalidation of its names changes; empty before the first head. */
  flightPosition(names: LedgerNames): string {
    return this.#view.flightPosition(names);
  }

  /** Calls `listener` when this node lost track or the ledger began anew: L1 is to be dropped. Returns what ends it. */
  onReset(listener: () => void): () => void {
    this.#resetListeners.add(listener);
    return () => void this.#resetListeners.delete(listener);
  }

  /**
   * Calls `listener` when this node goes along with an incarnation that is new to it, its first one too: what the grid held beside the
   * ledger may be lost. Returns what ends it.
   */
  onBegin(listener: () => void): () => void {
    this.#beginListeners.add(listener);
    return () => void this.#beginListeners.delete(listener);
  }

  /**
   * Invalidates everything that bears `name`, and gives the sequence. This node obeys before the promise resolves, others when
   * they next confirm. Fails with `grid_unavailable` when the grid didn't acknowledge it, `overloaded`, `cancelled` or
   * `invalid_control`.
   */
  async append(name: string, kind: InvalidationKind, options: CallOptions): Promise<number> {
    if (name.length > NAME_LENGTH_MAX || !isEncodableName(name)) {
      throw new RepriseError(
        'invalid_control',
        `The name to invalidate is not text of at most ${NAME_LENGTH_MAX} characters.`,
      );
    }
    try {
      await this.#appends.enter(options);
      try {
        const sequence = await this.#append(name, kind, options);
        this.#telemetry.counter('reprise_ledger_appends_total', kind, 'appended').add();
        return sequence;
      } finally {
        this.#appends.leave();
      }
    } catch (error) {
      this.#telemetry.counter('reprise_ledger_appends_total', kind, 'failed').add();
      throw error;
    }
  }

  async #append(name: string, kind: InvalidationKind, options: CallOptions): Promise<number> {
    let cause: unknown;
    let failures = 0;
    for (let attempt = 0; attempt < APPEND_ATTEMPTS_MAX; attempt++) {
      if (attempt > 1) await this.#backOff(failures, options);
      if (options.signal?.aborted === true) {
        throw new RepriseError('cancelled', 'The invalidation was cancelled.', { cause: options.signal.reason });
      }
      if (this.#clock.monotonicMs() >= options.deadlineAtMs) break;
      try {
        const sequence = await this.#tryAppend(name, kind, options);
        if (sequence !== undefined) return sequence;
      } catch (error) {
        // The outcome is unknown: append again, under the next sequence if this one was taken by ourselves.
        if (!hasCode(error, 'grid_timeout') && !hasCode(error, 'grid_unavailable')) throw error;
        cause = error;
        failures += 1;
      }
    }
    throw new RepriseError('grid_unavailable', 'The invalidation could not be written to the grid; repeat it.', {
      cause,
    });
  }

  /** One attempt; undefined when another node was faster or the marks showed that the head is from another time. */
  async #tryAppend(name: string, kind: InvalidationKind, options: CallOptions): Promise<number | undefined> {
    const found = await this.#settle(options);
    const { head } = found;
    const sequence = head.sequence + 1;
    const record = { name, kind, sequence, nonce: this.#random.uint32() };
    const records = [...head.records.slice(Math.max(0, head.records.length + 1 - this.#recordsMax)), record];
    const raised = await this.#store.raiseMark({ name, kind, sequence, incarnation: head.incarnation }, options);
    if (raised.kind === 'conflict') {
      await this.#beginAnew(found, raised.counter, options);
      return undefined;
    }
    const startedAtMs = this.#clock.monotonicMs();
    const next: LedgerHead = { incarnation: head.incarnation, sequence, floor: head.floor, records };
    if (!(await this.#store.replaceHead(found.version, next, options))) return undefined;
    // When the view is ahead already, it got there through a head that holds this record.
    if (this.#view.judge(next) === 'current') this.#goTo(next, startedAtMs);
    if (this.#view.floor > next.floor) this.#startSweep(() => this.#publishFloor());
    return sequence;
  }

  /** Reads the head until this node goes along with what it read. */
  async #settle(options: CallOptions): Promise<ReadableHead> {
    for (let attempt = 0; attempt < SETTLE_ATTEMPTS_MAX; attempt++) {
      const startedAtMs = this.#clock.monotonicMs();
      const revision = this.#view.revision;
      const found = await this.#store.readHead(options);
      if (found === undefined) {
        await this.#store.createHead(this.#freshHead(0), options);
      } else if (!isReadable(found) || this.#view.judge(found.head) === 'fork') {
        // A read that was overtaken by what this node learned meanwhile shows nothing.
        if (this.#view.revision === revision) await this.#beginAnew(found, 0, options);
      } else if (this.#view.judge(found.head) === 'current') {
        this.#goTo(found.head, startedAtMs);
        return found;
      } else if (await this.#adopt(found, startedAtMs, options)) {
        return found;
      }
    }
    throw new RepriseError('grid_unavailable', 'The ledger head kept changing; try again.');
  }

  #goTo(head: LedgerHead, startedAtMs: number): void {
    this.#view.extend(head);
    this.#confirmed(startedAtMs);
  }

  /** Goes to a head that doesn't continue the known one; false when it has to be read again. */
  async #adopt(found: ReadableHead, startedAtMs: number, options: CallOptions): Promise<boolean> {
    const { head } = found;
    const revision = this.#view.revision;
    const marks = this.#view.tableFor(head);
    if (!isSelfContained(head)) {
      const loaded = await this.#store.loadMarks(head, marks, options);
      if (loaded.kind === 'conflict') {
        await this.#beginAnew(found, loaded.counter, options);
        return false;
      }
      if (this.#view.revision !== revision) return false;
    }
    const verdict = this.#view.judge(head);
    this.#counterMax = Math.max(this.#counterMax, head.incarnation.counter);
    this.#view.install(head, marks);
    this.#confirmed(startedAtMs);
    if (verdict !== 'first') this.#reset(verdict, head);
    if (verdict === 'first' || verdict === 'higher') for (const listener of this.#beginListeners) listener();
    return true;
  }

  /** Replaces a head that can't be gone along with by the first one of a new incarnation. */
  async #beginAnew(found: FoundHead, counterSeen: number, options: CallOptions): Promise<void> {
    const counter = Math.max(counterSeen, found.head?.incarnation.counter ?? 0);
    const head = this.#freshHead(counter);
    if (!(await this.#store.replaceHead(found.version, head, options))) return;
    this.#telemetry.log('warn', 'ledger_began_anew', { counter: head.incarnation.counter });
    this.#startSweep(() => this.#store.sweep(head, this.#background(SWEEP_DEADLINE_MS)));
  }

  /** The first head of an incarnation above every counter that this node has seen. */
  #freshHead(counterSeen: number): LedgerHead {
    this.#counterMax = Math.max(this.#counterMax, counterSeen) + 1;
    const random = incarnationRandom(this.#random.uint32(), this.#random.uint32());
    return { incarnation: { counter: this.#counterMax, random }, sequence: 0, floor: 0, records: [] };
  }

  #reset(cause: string, head: LedgerHead): void {
    this.#epoch++;
    if (cause === 'higher') this.#telemetry.counter('reprise_ledger_incarnations_total').add();
    this.#telemetry.log('warn', 'ledger_reset', { cause, counter: head.incarnation.counter, sequence: head.sequence });
    for (const listener of this.#resetListeners) listener();
  }

  #confirmed(startedAtMs: number): void {
    const unconfirmedMs = this.confirmedAgeMs() - this.#options.stalenessBoundMs;
    if (unconfirmedMs > 0 && Number.isFinite(unconfirmedMs)) {
      this.#telemetry.counter('reprise_ledger_unconfirmed_seconds_total').add(unconfirmedMs / 1_000);
    }
    this.#confirmedAtMs = Math.max(this.#confirmedAtMs, startedAtMs);
    this.#telemetry.gauge('reprise_ledger_sequence').set(this.#view.position?.sequence ?? 0);
  }

  /** Raises the head's floor to the one that this node had to go by, then removes the marks that it makes needless. */
  async #publishFloor(): Promise<void> {
    const options = this.#background(SWEEP_DEADLINE_MS);
    for (let attempt = 0; attempt < APPEND_ATTEMPTS_MAX; attempt++) {
      const { head, version } = await this.#settle(options);
      const raised = { ...head, floor: Math.min(this.#view.floor, head.sequence) };
      if (raised.floor > head.floor && !(await this.#store.replaceHead(version, raised, options))) continue;
      await this.#store.sweep(raised, options);
      return;
    }
  }

  /** Runs one sweep at a time; what a failed or skipped one left is left to the next. */
  #startSweep(sweep: () => Promise<void>): void {
    if (this.#sweep !== undefined || this.#stopping.signal.aborted) return;
    this.#sweep = sweep()
      .catch((error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        this.#telemetry.counter('reprise_background_failures_total', 'ledger_sweep').add();
        this.#telemetry.log('warn', 'ledger_sweep_failed', { error: String(error) });
      })
      .finally(() => {
        this.#sweep = undefined;
      });
  }

  /** Longer with each failure; who only lost a race to another node must not wait longer each time, or it would lose all the more. */
  async #backOff(failures: number, options: CallOptions): Promise<void> {
    const mostMs = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** failures);
    const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
    if (leftMs > 0) await this.#clock.sleep(Math.min(leftMs, mostMs * (0.5 + this.#random.float() / 2)));
  }

  #background(forMs: number): CallOptions {
    return { deadlineAtMs: this.#clock.monotonicMs() + forMs, signal: this.#stopping.signal };
  }
}

function isReadable(found: FoundHead): found is ReadableHead {
  return found.head !== undefined;
}
