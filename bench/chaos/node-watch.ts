import { performance } from 'node:perf_hooks';

/** What a node tells of itself, now. */
export interface NodeSeen {
  readonly breakerOpened: number;
  readonly breakerHalfOpened: number;
  readonly breakerClosed: number;
  readonly unconfirmedHits: number;
  readonly storesFailed: number;
  readonly incarnations: number;
  readonly backgroundFailures: number;
  readonly residentBytes: number;
}

const SCRAPE_MS = 1_000;
const SCRAPE_MS_MAX = 5_000;
/** Of Node's own metrics; begins anew at each scrape. */
const LAG = 'nodejs_eventloop_lag_max_seconds';

/** Reads one node's metrics every second. */
export class NodeWatch {
  readonly #url: string;
  #timer: NodeJS.Timeout | undefined = undefined;
  #lags: { readonly atMs: number; readonly ms: number }[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  start(): void {
    this.#timer = setInterval(() => void this.read().catch(() => undefined), SCRAPE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Longest time for which the node's event loop stood still, of the scrapes since then, milliseconds. */
  lagMsSince(sinceMs: number): number {
    return Math.max(0, ...this.#lags.filter(({ atMs }) => atMs >= sinceMs).map(({ ms }) => ms));
  }

  /** Fails when the node doesn't answer for several seconds. */
  async read(): Promise<NodeSeen> {
    const text = await (await this.#get('/metrics')).text();
    this.#lags.push({ atMs: performance.now(), ms: sumOf(text, LAG) * 1_000 });
    const breaker = (state: string): number => sumOf(text, 'reprise_breaker_transitions_total', `state="${state}"`);
    return {
      breakerOpened: breaker('open'),
      breakerHalfOpened: breaker('half-open'),
      breakerClosed: breaker('closed'),
      unconfirmedHits: sumOf(text, 'reprise_unconfirmed_hits_total'),
      storesFailed: sumOf(text, 'reprise_stores_total', 'result="failed"'),
      incarnations: sumOf(text, 'reprise_ledger_incarnations_total'),
      backgroundFailures: sumOf(text, 'reprise_background_failures_total'),
      residentBytes: sumOf(text, 'process_resident_memory_bytes'),
    };
  }

  /** Parts of `/readyz` that aren't ready, each with its detail; none when the node is well. */
  async complaints(): Promise<readonly string[]> {
    const reply = await this.#get('/readyz');
    const { parts } = (await reply.json()) as { parts: { name: string; state: string; detail?: string }[] };
    return parts
      .filter(({ name, state }) => state !== 'ready' && name !== 'semantic' && name !== 'embedder')
      .map(({ name, state, detail }) => `${name} ${state}${detail === undefined ? '' : ` (${detail})`}`);
  }

  #get(path: string): Promise<Response> {
    return fetch(`${this.#url}${path}`, { signal: AbortSignal.timeout(SCRAPE_MS_MAX) });
  }
}

/** Sum of a metric's lines, of all labels or of those that hold one. */
function sumOf(text: string, name: string, label = ''): number {
  let sum = 0;
  for (const line of text.split('\n')) {
    const isOfName = line.startsWith(`${name} `) || line.startsWith(`${name}{`);
    if (isOfName && line.includes(label)) sum += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
