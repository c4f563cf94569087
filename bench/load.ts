import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { InferRequest, InferenceCacheService, Operation } from '../proto/gen/reprise/v1/inference_cache.ts';
import { UNIQUE_MARK } from './bodies.ts';
import { http1Request, Http1Wire } from './http1-wire.ts';
import { grpcMessage, Http2Wire } from './http2-wire.ts';
import type { Wire } from './wire.ts';

/** What a load is. */
export interface LoadPlan {
  readonly protocol: 'http' | 'grpc';
  readonly port: number;
  readonly bodies: string;
  readonly connections: number;
  readonly seed: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** `once`: each body once, in order. `random`: drawn for `seconds`. `unique`: the first body with its mark replaced. */
  readonly order: 'once' | 'random' | 'unique';
  readonly seconds: number;
  /** Requests begin at this rate, whatever became of those before; absent: a connection sends when it has its answer. */
  readonly ratePerSecond?: number;
}

/** What became of a load. A latency counts from the moment at which the request was due. */
export interface LoadResult {
  readonly requests: number;
  readonly durationUs: number;
  readonly errors: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const HTTP_PATH = '/v1/chat/completions';
const CREDENTIAL = 'Bearer bench-key';
const SAMPLES_MAX = 2_000_000;
const MARK = Buffer.from(UNIQUE_MARK);

/** Sends what a plan says, over connections of its own. */
class Load {
  readonly #plan: LoadPlan;
  readonly #requests: readonly Buffer[];
  readonly #free: Lane[] = [];
  readonly #lanes: Lane[];
  readonly #due: number[] = [];
  readonly #latenciesUs = new Float64Array(SAMPLES_MAX);
  #dueAt = 0;
  #sent = 0;
  #done = 0;
  #errors = 0;
  #random: number;
  #startedAtMs = 0;
  #isOver = false;
  #finish: (result: LoadResult) => void = () => undefined;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#random = plan.seed >>> 0;
    this.#requests = readFileSync(plan.bodies, 'utf8')
      .trimEnd()
      .split('\n')
      .map((body) => requestBytes(plan, Buffer.from(body)));
    this.#lanes = Array.from(
      { length: plan.connections },
      () => new Lane(plan, (lane, good) => this.#answered(lane, good)),
    );
  }

  async run(): Promise<LoadResult> {
    await Promise.all(this.#lanes.map((lane) => lane.open()));
    const result = new Promise<LoadResult>((resolve) => (this.#finish = resolve));
    this.#startedAtMs = performance.now();
    this.#free.push(...this.#lanes);
    if (this.#plan.ratePerSecond === undefined) for (const lane of this.#lanes) this.#next(lane);
    else this.#pace(this.#plan.ratePerSecond);
    const told = await result;
    for (const lane of this.#lanes) lane.close();
    return told;
  }

  /** Closed loop: the next request of a connection that has its answer. */
  #next(lane: Lane): void {
    const nowMs = performance.now();
    const isOver =
      this.#plan.order === 'once'
        ? this.#sent >= this.#requests.length
        : nowMs - this.#startedAtMs >= this.#plan.seconds * 1_000;
    if (isOver) {
      if (this.#lanes.every((other) => !other.isBusy)) this.#end();
      return;
    }
    lane.send(this.#request(), nowMs);
  }

  /** Open loop; turns round without sleeping, so that no request is late by a timer's grain. */
  #pace(ratePerSecond: number): void {
    const nowMs = performance.now();
    const total = Math.floor(ratePerSecond * this.#plan.seconds);
    const dueCount = Math.min(total, Math.floor(((nowMs - this.#startedAtMs) / 1_000) * ratePerSecond));
    for (let index = this.#sent + this.#waiting; index < dueCount; index += 1) {
      this.#due.push(this.#startedAtMs + (index / ratePerSecond) * 1_000);
    }
    while (this.#waiting > 0 && this.#free.length > 0) {
      const lane = this.#free.pop() as Lane;
      lane.send(this.#request(), this.#due[this.#dueAt] as number);
      this.#dueAt += 1;
    }
    if (this.#done === total || nowMs - this.#startedAtMs > this.#plan.seconds * 2_000) this.#end();
    else setImmediate(() => this.#pace(ratePerSecond));
  }

  get #waiting(): number {
    return this.#due.length - this.#dueAt;
  }

  #request(): Buffer {
    const { order } = this.#plan;
    this.#sent += 1;
    if (order === 'once') return this.#requests[this.#sent - 1] as Buffer;
    if (order === 'unique') return this.#unique(this.#requests[0] as Buffer);
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#requests[Math.floor((this.#random / 2 ** 32) * this.#requests.length)] as Buffer;
  }

  #unique(template: Buffer): Buffer {
    const bytes = Buffer.from(template);
    const half = MARK.length / 2;
    const text = String(this.#plan.seed).padStart(half, '0') + String(this.#sent).padStart(half, '0');
    bytes.write(text, bytes.indexOf(MARK));
    return bytes;
  }

  #answered(lane: Lane, isGood: boolean): void {
    if (this.#isOver) return;
    if (this.#done < SAMPLES_MAX) this.#latenciesUs[this.#done] = (performance.now() - lane.dueAtMs) * 1_000;
    this.#done += 1;
    if (!isGood) this.#errors += 1;
    if (this.#plan.ratePerSecond === undefined) this.#next(lane);
    else this.#free.push(lane);
  }

  #end(): void {
    this.#isOver = true;
    const durationUs = (performance.now() - this.#startedAtMs) * 1_000;
    const sorted = this.#latenciesUs.subarray(0, Math.min(this.#done, SAMPLES_MAX)).sort();
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    const unanswered = this.#sent - this.#done + this.#waiting;
    this.#finish({
      requests: this.#done,
      durationUs,
      errors: this.#errors + unanswered,
      p50Us: at(0.5),
      p99Us: at(0.99),
    });
  }
}

/** One connection. */
class Lane {
  readonly #wire: Wire;
  readonly #port: number;
  readonly #onAnswer: (lane: Lane, isGood: boolean) => void;
  #socket: Socket | undefined;
  dueAtMs = 0;
  isBusy = false;

  constructor(plan: LoadPlan, onAnswer: (lane: Lane, isGood: boolean) => void) {
    this.#wire =
      plan.protocol === 'http' ? new Http1Wire() : new Http2Wire(InferenceCacheService.infer.path, grpcHeaders(plan));
    this.#port = plan.port;
    this.#onAnswer = onAnswer;
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true }, () => {
        socket.write(this.#wire.opening);
        resolve();
      });
      socket.on('error', reject);
      socket.on('data', (data) => {
        const verdict = this.#wire.receive(data, (bytes) => socket.write(bytes));
        if (verdict === 'more' || !this.isBusy) return;
        this.isBusy = false;
        this.#onAnswer(this, verdict === 'good');
      });
      socket.on('close', () => {
        if (this.isBusy) throw new Error('The server closed a connection before its answer was complete.');
      });
      this.#socket = socket;
    });
  }

  send(bytes: Buffer, dueAtMs: number): void {
    this.isBusy = true;
    this.dueAtMs = dueAtMs;
    this.#socket?.write(this.#wire.request(bytes));
  }

  close(): void {
    this.isBusy = false;
    this.#socket?.destroy();
  }
}

function requestBytes(plan: LoadPlan, body: Buffer): Buffer {
  if (plan.protocol === 'http') {
    return http1Request(
      HTTP_PATH,
      { 'content-type': 'application/json', authorization: CREDENTIAL, ...plan.headers },
      body,
    );
  }
  const message = InferRequest.encode({ ...EMPTY_REQUEST, body }).finish();
  return grpcMessage(message);
}

/** As a client of grpc-js sends them. */
function grpcHeaders(plan: LoadPlan): Readonly<Record<string, string>> {
  return {
    'grpc-timeout': '600000m',
    authorization: CREDENTIAL,
    'user-agent': 'reprise-bench',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...plan.headers,
  };
}

const EMPTY_REQUEST: InferRequest = {
  operation: Operation.CHAT_COMPLETIONS,
  body: new Uint8Array(0),
  model: '',
  namespace: '',
  domain: '',
  tags: [],
  noCache: false,
  noStore: false,
  onlyIfCached: false,
};

/** One plan a line on standard input, one result a line on standard output: a generator that has run before is not slow to start. */
async function generate(): Promise<void> {
  process.stdout.write('ready\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const result = await new Load(JSON.parse(line) as LoadPlan).run();
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
}

if (process.argv[1]?.endsWith('load.ts') === true) await generate();
