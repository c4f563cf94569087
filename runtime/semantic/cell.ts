import { RepriseError, toRepriseError } from '../errors.ts';
import type { Actor, Turn } from '../actor/actor.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Grid } from '../ports/grid.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { FlatIndex } from './flat-index.ts';
import type { CodeRange } from './lsh.ts';
import { decodeVectorHead } from './vector-record.ts';
import type { VectorHead } from './vector-record.ts';

/** What a cell is asked. */
export type CellMessage =
  | { readonly kind: 'search'; readonly vector: Float32Array; readonly k: number; readonly floor: number }
  | { readonly kind: 'add'; readonly record: Uint8Array }
  | { readonly kind: 'forget'; readonly key: string };

/** One stored text near an asked one; `record` holds its text and features. */
export interface CellMatch {
  readonly key: string;
  readonly similarity: number;
  readonly record: Uint8Array;
}

export type CellReply =
  /** `complete`: the cell knew every vector of its range; false while it is being rebuilt. */
  | { readonly kind: 'matches'; readonly matches: readonly CellMatch[]; readonly complete: boolean }
  | { readonly kind: 'done' };

export interface CellOptions {
  readonly scope: string;
  readonly range: CodeRange;
  readonly embedderId: string;
  readonly dimensions: number;
  /** Past it the longest held vector is dropped from the cell, not from the grid. */
  readonly vectorsMax: number;
  readonly pageItems: number;
  /** Keys that may change during a rebuild before it begins anew. */
  readonly journalMax: number;
  readonly rebuildTimeoutMs: number;
  /** Pause after a failed rebuild. */
  readonly retryMs: number;
}

/** What cells of one node share. `onVectors` is told each change of the number of vectors held. */
export interface CellDeps {
  readonly grid: Grid;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly onVectors: (change: number) => void;
}

/** Rebuilds that one activation begins anew because its journal overflowed, before it gives up for a while. */
const RESTARTS_MAX = 3;

interface Held {
  readonly record: Uint8Array;
  readonly expiresAtMs: number;
}

type Build = 'none' | 'running' | 'complete';

/**
 * The vectors of one range of LSH codes of one scope: a cache of the grid's `vectors` map, rebuilt from it by pages. The
 * first search waits for the first page, later pages come in the background. What is added or forgotten meanwhile is
 * applied at once and journalled, so that an older page can't undo it.
 */
export class Cell implements Actor<CellMessage, CellReply> {
  readonly #deps: CellDeps;
  readonly #options: CellOptions;
  readonly #index: FlatIndex;
  readonly #held = new Map<string, Held>();
  readonly #stop = new AbortController();
  #journal: Set<string> | undefined;
  #build: Build = 'none';
  #retryAtMs = -Infinity;

  constructor(deps: CellDeps, options: CellOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#index = new FlatIndex(options.dimensions);
  }

  /** Vectors held now. */
  get size(): number {
    return this.#held.size;
  }

  /** Keys journalled by the rebuild under way; for tests of its bound. */
  get journalled(): number {
    return this.#journal?.size ?? 0;
  }

  receive(message: CellMessage, turn: Turn): CellReply | Promise<CellReply> {
    switch (message.kind) {
      case 'search':
        if (this.#build === 'none' && this.#deps.clock.monotonicMs() >= this.#retryAtMs) {
          return this.#startBuild(turn).then(() => this.#search(message));
        }
        return this.#search(message);
      case 'add':
        this.#add(message.record);
        return { kind: 'done' };
      case 'forget':
        this.#journalise(message.key);
        this.#drop(message.key);
        return { kind: 'done' };
    }
  }

  passivated(): void {
    this.#stop.abort(new RepriseError('actor_stopped', 'The cell was passivated.'));
    this.#deps.onVectors(-this.#held.size);
    this.#held.clear();
  }

  #search(message: Extract<CellMessage, { kind: 'search' }>): CellReply {
    const nowMs = this.#deps.clock.wallMs();
    const matches: CellMatch[] = [];
    for (let tries = 0; tries < 2; tries += 1) {
      matches.length = 0;
      let expired = false;
      for (const { id, similarity } of this.#index.search(message.vector, message.k, message.floor)) {
        const held = this.#held.get(id);
        if (held === undefined) continue;
        if (held.expiresAtMs > nowMs) matches.push({ key: id, similarity, record: held.record });
        else expired = true;
      }
      if (!expired) break;
      this.#dropExpired(nowMs);
    }
    return { kind: 'matches', matches, complete: this.#build === 'complete' };
  }

  #add(record: Uint8Array): void {
    const head = decodeVectorHead(record);
    if (head === undefined || !this.#belongs(head)) return;
    this.#journalise(head.key);
    this.#hold(head, record);
  }

  #belongs(head: VectorHead): boolean {
    const { scope, embedderId, dimensions } = this.#options;
    return head.scope === scope && head.embedderId === embedderId && head.vector.length === dimensions;
  }

  #hold(head: VectorHead, record: Uint8Array): void {
    if (!this.#held.has(head.key)) {
      if (this.#held.size >= this.#options.vectorsMax) {
        const [oldest] = this.#held.keys();
        if (oldest !== undefined) this.#drop(oldest);
      }
      this.#deps.onVectors(1);
    }
    this.#held.delete(head.key);
    this.#held.set(head.key, { record, expiresAtMs: head.expiresAtMs });
    this.#index.add(head.key, head.vector);
  }

  #drop(key: string): void {
    if (!this.#held.delete(key)) return;
    this.#index.remove(key);
    this.#deps.onVectors(-1);
  }

  #dropExpired(nowMs: number): void {
    for (const [key, held] of this.#held) if (held.expiresAtMs <= nowMs) this.#drop(key);
  }

  #journalise(key: string): void {
    const journal = this.#journal;
    if (journal !== undefined && journal.size <= this.#options.journalMax) journal.add(key);
  }

  /** Resolves with the first page, or the turn's deadline; the rest goes on in the background, which ends with the activation. */
  #startBuild(turn: CallOptions): Promise<void> {
    this.#build = 'running';
    return new Promise((resolve) => {
      const leftMs = Math.max(0, turn.deadlineAtMs - this.#deps.clock.monotonicMs());
      const timer = this.#deps.clock.setTimer(leftMs, resolve);
      const onPage = (): void => {
        timer.cancel();
        resolve();
      };
      this.#rebuild(onPage).then(
        () => {
          this.#build = 'complete';
          onPage();
        },
        (error: unknown) => {
          this.#buildFailed(toRepriseError(error));
          onPage();
        },
      );
    });
  }

  #buildFailed(error: RepriseError): void {
    this.#build = 'none';
    this.#journal = undefined;
    this.#retryAtMs = this.#deps.clock.monotonicMs() + this.#options.retryMs;
    if (this.#stop.signal.aborted) return;
    this.#deps.telemetry.counter('reprise_background_failures_total', 'cell-rebuild').add();
    this.#deps.telemetry.log('warn', 'cell_rebuild_failed', { code: error.code });
  }

  async #rebuild(onPage: () => void): Promise<void> {
    const deadlineAtMs = this.#deps.clock.monotonicMs() + this.#options.rebuildTimeoutMs;
    for (let start = 0; start <= RESTARTS_MAX; start += 1) {
      this.#journal = new Set();
      if (await this.#readPages({ deadlineAtMs, signal: this.#stop.signal }, onPage)) {
        this.#journal = undefined;
        return;
      }
    }
    throw new RepriseError('overloaded', 'A cell changed too fast to be rebuilt.');
  }

  /** False when the journal overflowed. */
  async #readPages(call: CallOptions, onPage: () => void): Promise<boolean> {
    const { scope, range, pageItems, vectorsMax, journalMax } = this.#options;
    let after: string | undefined;
    for (let pages = 0; pages * pageItems <= vectorsMax; pages += 1) {
      const page = await this.#deps.grid.query(
        'vectors',
        { scope, codeFrom: range.from, codeTo: range.to },
        after === undefined ? { limit: pageItems } : { limit: pageItems, after },
        call,
      );
      this.#stop.signal.throwIfAborted();
      if ((this.#journal?.size ?? 0) > journalMax) return false;
      for (const item of page.items) this.#takeStored(item.value);
      onPage();
      after = page.next;
      if (after === undefined) return true;
    }
    return true;
  }

  #takeStored(value: Uint8Array): void {
    const head = decodeVectorHead(value);
    if (head === undefined || !this.#belongs(head) || this.#journal?.has(head.key) === true) return;
    if (head.expiresAtMs <= this.#deps.clock.wallMs()) return;
    if (this.#held.size >= this.#options.vectorsMax && !this.#held.has(head.key)) return;
    this.#hold(head, value);
  }
}
