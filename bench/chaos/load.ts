import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { answerTo, bodyOf, Questions, type Ask } from './questions.ts';
import type { Outcome, RequestSeen, Stream } from './records.ts';

export interface LoadPlan {
  /** Base URLs. */
  readonly nodes: readonly [string, string];
  readonly control: string;
  /** Requests a second to both nodes together. */
  readonly rate: number;
  /** Of these, so many a second are asked of the control too. */
  readonly controlRate: number;
  /** Requests a second in the strict namespace, all for few questions. */
  readonly strictRate: number;
  /** For so long the rates rise from nothing. */
  readonly rampMs: number;
}

const PATH = '/v1/chat/completions';
export const STRICT_NAMESPACE = 'strict';
const STRICT_QUESTIONS = 20;
const CONNECTIONS_MAX = 256;
const ANSWER_MS_MAX = 10_000;
/** Past it requests are counted as failed and not sent. */
const UNDER_WAY_MAX = 4_000;
const HEADERS = { 'content-type': 'application/json' };
const STATUS_PREFIX = 'reprise; ';

/** An open loop: requests leave when they are due, whatever became of those before them. */
export class Load {
  readonly #plan: LoadPlan;
  readonly #nodes: readonly [Pool, Pool];
  readonly #control: Pool;
  readonly #questions: Questions;
  readonly #underWay = new Set<Promise<void>>();
  #records: RequestSeen[] = [];
  #sent = 0;
  #startedAtMs = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    const pool = (url: string): Pool =>
      new Pool(url, {
        connections: CONNECTIONS_MAX,
        headersTimeout: ANSWER_MS_MAX,
        bodyTimeout: ANSWER_MS_MAX,
      });
    this.#nodes = [pool(plan.nodes[0]), pool(plan.nodes[1])];
    this.#control = pool(plan.control);
    this.#questions = new Questions('load', plan.rate);
  }

  /** Requests that ended since the last `forget`. */
  get records(): readonly RequestSeen[] {
    return this.#records;
  }

  start(): void {
    this.#startedAtMs = performance.now();
    this.#tick();
  }

  /** Drops what ended so far. */
  forget(): void {
    this.#records = [];
  }

  /** Sends no more and waits for the answers under way. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all(this.#underWay);
    await Promise.all([...this.#nodes, this.#control].map((pool) => pool.destroy()));
  }

  #tick(): void {
    const nowMs = performance.now();
    for (let dueMs = this.#dueMs(); dueMs <= nowMs; dueMs = this.#dueMs()) {
      this.#sendAll(this.#sent, dueMs);
      this.#sent += 1;
    }
    this.#timer = setTimeout(() => this.#tick(), Math.max(1, this.#dueMs() - performance.now()));
  }

  #dueMs(): number {
    const { rate, rampMs } = this.#plan;
    const evenMs = (this.#sent * 1_000) / rate;
    return this.#startedAtMs + (evenMs < rampMs / 2 ? Math.sqrt(2 * rampMs * evenMs) : rampMs / 2 + evenMs);
  }

  #sendAll(index: number, dueMs: number): void {
    const { rate, controlRate, strictRate } = this.#plan;
    const ask = this.#questions.next();
    this.#send('main', ask, dueMs);
    if (isTurn(index, controlRate / rate)) this.#send('control', ask, dueMs);
    if (!isTurn(index, strictRate / rate)) return;
    const turn = Math.floor((index * strictRate) / rate);
    const node = (Math.floor(turn / STRICT_QUESTIONS) % 2) as 0 | 1;
    this.#send('strict', { text: `strict question ${turn % STRICT_QUESTIONS}`, node }, dueMs);
  }

  #send(stream: Stream, ask: Ask, dueMs: number): void {
    if (this.#underWay.size >= UNDER_WAY_MAX) {
      this.#records.push(failed('not sent: too many are under way', { stream, node: ask.node, atMs: dueMs }));
      return;
    }
    const sending = this.#ask(stream, ask, dueMs)
      .then((record) => void this.#records.push(record))
      .finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }

  async #ask(stream: Stream, { text, node }: Ask, atMs: number): Promise<RequestSeen> {
    const pool = stream === 'control' ? this.#control : this.#nodes[node];
    const headers =
      stream === 'control'
        ? { ...HEADERS, 'cache-control': 'no-cache, no-store' }
        : stream === 'strict'
          ? { ...HEADERS, 'x-reprise-namespace': STRICT_NAMESPACE }
          : HEADERS;
    const about = { stream, node, atMs };
    try {
      const reply = await pool.request({ method: 'POST', path: PATH, headers, body: bodyOf(text) });
      const body = await reply.body.text();
      const latencyMs = performance.now() - atMs;
      if (reply.statusCode !== 200) return failed(`status ${reply.statusCode}: ${body.slice(0, 200)}`, about);
      return {
        ...about,
        latencyMs,
        outcome: outcomeOf(String(reply.headers['cache-status'] ?? '')),
        unconfirmed: reply.headers['x-reprise-unconfirmed'] === 'true',
        wrong: contentOf(body) !== answerTo(text),
        failure: undefined,
      };
    } catch (error) {
      return failed(String(error), about);
    }
  }
}

/** Whether the request of this index is one of the share that is asked elsewhere too. */
function isTurn(index: number, share: number): boolean {
  return Math.floor((index + 1) * share) > Math.floor(index * share);
}

function failed(failure: string, about: Pick<RequestSeen, 'stream' | 'node' | 'atMs'>): RequestSeen {
  const latencyMs = performance.now() - about.atMs;
  return { ...about, latencyMs, outcome: 'failed', unconfirmed: false, wrong: false, failure };
}

function outcomeOf(cacheStatus: string): Outcome {
  const status = cacheStatus.startsWith(STATUS_PREFIX) ? cacheStatus.slice(STATUS_PREFIX.length) : '';
  if (status.startsWith('fwd=')) return status.startsWith('fwd=bypass') ? 'bypass' : 'miss';
  if (!status.startsWith('hit')) throw new Error(`an answer without a Cache-Status that is known: ${cacheStatus}`);
  const detail = /detail=([\w-]+)/.exec(status)?.[1];
  return detail === 'exact-l1' || detail === 'exact-l2' ? detail : 'other-hit';
}

function contentOf(body: string): string {
  const answer = JSON.parse(body) as {
    readonly choices: readonly { readonly message: { readonly content: string } }[];
  };
  return answer.choices[0]?.message.content ?? '';
}
