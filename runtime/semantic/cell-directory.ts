import { hasCode, toRepriseError } from '../errors.ts';
import type { ActorSystem } from '../actor/actor-system.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Grid } from '../ports/grid.ts';
import type { SemanticOptions } from '../ports/options.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { Cell } from './cell.ts';
import type { CellMatch, CellMessage, CellReply } from './cell.ts';
import { rangeOf } from './lsh.ts';
import type { CodeRange } from './lsh.ts';

export interface CellDirectoryDeps {
  readonly embedder: Embedder;
  readonly grid: Grid;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly actors: ActorSystem;
}

/** Every scope has one cell for all codes. */
const DEPTH = 0;
const MAILBOX_MAX = 1_024;
const IDLE_MS = 10 * 60_000;
const PAGE_ITEMS = 256;
const JOURNAL_MAX = 4_096;
const REBUILD_TIMEOUT_MS = 30_000;
const RETRY_MS = 1_000;
const FORGET_TIMEOUT_MS = 1_000;
/** Forgettings under way; past it one is dropped, and its candidate is found gone again. */
const FORGETTING_MAX = 64;

/** The cells of all scopes: which actor holds a code, and what it is told. */
export class CellDirectory {
  readonly #deps: CellDirectoryDeps;
  readonly #bits: number;
  readonly #forgetting = new Set<Promise<void>>();
  #vectors = 0;

  constructor(deps: CellDirectoryDeps, options: SemanticOptions) {
    this.#deps = deps;
    this.#bits = options.codeBits;
    const gauge = deps.telemetry.gauge('reprise_semantic_vectors');
    const onVectors = (change: number): void => {
      this.#vectors += change;
      gauge.set(this.#vectors);
    };
    const shared = {
      embedderId: deps.embedder.id,
      dimensions: deps.embedder.dimensions,
      vectorsMax: options.cellVectorsMax,
      pageItems: PAGE_ITEMS,
      journalMax: JOURNAL_MAX,
      rebuildTimeoutMs: REBUILD_TIMEOUT_MS,
      retryMs: RETRY_MS,
    };
    deps.actors.register<CellMessage, CellReply>(
      'cell',
      (key) => new Cell({ ...deps, onVectors }, { ...shared, ...parseCellKey(key) }),
      { mailboxMax: MAILBOX_MAX, idleMs: IDLE_MS, activationsMax: options.cellsMax },
    );
  }

  /** The nearest matches over the cells of `codes`, ties by key; undefined when no cell answered. */
  async search(
    query: {
      readonly scope: string;
      readonly codes: readonly number[];
      readonly search: { readonly vector: Float32Array; readonly k: number; readonly floor: number };
    },
    options: CallOptions,
  ): Promise<readonly CellMatch[] | undefined> {
    const keys = new Set(query.codes.map((code) => this.#keyOf(query.scope, code)));
    const message: CellMessage = { kind: 'search', ...query.search };
    const replies = await Promise.all([...keys].map((key) => this.#ask(key, message, options)));
    if (replies.every((reply) => reply === undefined)) return undefined;
    // A look-up without some of its cells goes on; one without any is its caller's to count.
    for (const reply of replies) {
      if (reply === undefined) this.#deps.telemetry.counter('reprise_bypasses_total', 'cell').add();
    }
    const matches = replies.flatMap((reply) => (reply?.kind === 'matches' ? reply.matches : []));
    return matches.sort(compareCellMatches).slice(0, query.search.k);
  }

  async add(
    added: { readonly scope: string; readonly code: number; readonly record: Uint8Array },
    options: CallOptions,
  ): Promise<void> {
    const message: CellMessage = { kind: 'add', record: added.record };
    await this.#deps.actors.call<CellReply>('cell', this.#keyOf(added.scope, added.code), message, options);
  }

  /** Removes a vector from the grid and, where its scope has a cell, from that, in the background. */
  forget(forgotten: { readonly scope: string; readonly key: string; readonly tellCell: boolean }): void {
    if (this.#forgetting.size >= FORGETTING_MAX) return;
    const task = this.#forget(forgotten)
      .catch((error: unknown) => {
        this.#deps.telemetry.counter('reprise_background_failures_total', 'semantic-forget').add();
        this.#deps.telemetry.log('debug', 'semantic_forget_failed', { code: toRepriseError(error).code });
      })
      .finally(() => this.#forgetting.delete(task));
    this.#forgetting.add(task);
  }

  /** Resolves when the background work has ended; each piece has a deadline. */
  async stop(): Promise<void> {
    await Promise.all(this.#forgetting);
  }

  /** Grid first: a cell that is rebuilt in between must not find the vector again. */
  async #forget(forgotten: {
    readonly scope: string;
    readonly key: string;
    readonly tellCell: boolean;
  }): Promise<void> {
    const { scope, key, tellCell } = forgotten;
    const options = { deadlineAtMs: this.#deps.clock.monotonicMs() + FORGET_TIMEOUT_MS };
    try {
      await this.#deps.grid.remove('vectors', key, options);
    } finally {
      if (tellCell) {
        const message: CellMessage = { kind: 'forget', key };
        await this.#deps.actors.call<CellReply>('cell', this.#keyOf(scope, 0), message, options);
      }
    }
  }

  async #ask(key: string, message: CellMessage, options: CallOptions): Promise<CellReply | undefined> {
    try {
      return await this.#deps.actors.call<CellReply>('cell', key, message, options);
    } catch (error) {
      if (hasCode(error, 'cancelled')) throw error;
      return undefined;
    }
  }

  #keyOf(scope: string, code: number): string {
    return cellKey(scope, rangeOf(code, DEPTH, this.#bits));
  }
}

function compareCellMatches(a: CellMatch, b: CellMatch): number {
  return b.similarity - a.similarity || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** `<scope>/<first code>-<last code>`, codes in hex. */
function cellKey(scope: string, range: CodeRange): string {
  return `${scope}/${range.from.toString(16)}-${range.to.toString(16)}`;
}

function parseCellKey(key: string): { scope: string; range: CodeRange } {
  const slash = key.lastIndexOf('/');
  const [from = '', to = ''] = key.slice(slash + 1).split('-');
  return { scope: key.slice(0, slash), range: { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) } };
}
