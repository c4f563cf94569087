import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { pino, type Logger } from 'pino';
import type { RequestRecord } from '../../../clients/gateway/index.ts';
import { loadConfig, type SettingsInput } from '../../config/index.ts';
import type { MetricName } from '../../ports/metrics.ts';
import type { Identity } from '../../ports/service.ts';
import type { Counter } from '../../ports/telemetry.ts';
import { HttpServer } from '../../server/http-server.ts';
import { assemble, type Assembly, type AssemblyOverrides } from '../assembly.ts';
import { HostTelemetry } from '../telemetry.ts';

/** A whole answer over HTTP, as a test looks at it. */
export interface TestReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** What the cache did: the `Cache-Status` header less its name; empty when there is none. */
  readonly cache: string;
  json<T = Record<string, unknown>>(): T;
}

/** A node with its HTTP server on a free port of loopback, silent, on a data folder of its own. */
export interface TestServer {
  readonly url: string;
  readonly assembly: Assembly;
  readonly telemetry: WatchedTelemetry;
  /** One record a request, in the order in which they ended. */
  readonly records: readonly RequestRecord[];
  client(apiKey?: string): OpenAI;
  post(path: string, body: unknown, options?: PostOptions): Promise<TestReply>;
  /** The same, the reply's body still on its way. */
  open(path: string, body: unknown, options?: PostOptions): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<TestReply>;
  /** Resolves when every answer that was offered to the store is stored or refused. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface PostOptions {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

const SETTLE_MS = 10_000;
const CACHE_PREFIX = 'reprise; ';

/** Counts as the real one, and tells a test when a count is reached, so that it need not poll. */
export class WatchedTelemetry extends HostTelemetry {
  readonly #counts = new Map<string, number>();
  readonly #watched = new Map<string, Counter>();
  #waiting: { readonly id: string; readonly count: number; readonly resolve: () => void }[] = [];

  constructor(logger: Logger = pino({ level: 'silent' })) {
    super({ logLevel: 'silent', logger });
  }

  /** 0 for a counter that was never touched. */
  count(name: MetricName, ...labels: readonly string[]): number {
    return this.#counts.get(idOf(name, labels)) ?? 0;
  }

  /** Resolves once the counter stands at `count` or above. */
  counted(count: number, name: MetricName, ...labels: readonly string[]): Promise<void> {
    const id = idOf(name, labels);
    if ((this.#counts.get(id) ?? 0) >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ id, count, resolve }));
  }

  override counter(name: MetricName, ...labels: readonly string[]): Counter {
    const id = idOf(name, labels);
    const known = this.#watched.get(id);
    if (known !== undefined) return known;
    const inner = super.counter(name, ...labels);
    const counter: Counter = {
      add: (amount = 1) => {
        inner.add(amount);
        this.#note(id, amount);
      },
    };
    this.#watched.set(id, counter);
    return counter;
  }

  #note(id: string, amount: number): void {
    const count = (this.#counts.get(id) ?? 0) + amount;
    this.#counts.set(id, count);
    this.#waiting = this.#waiting.filter((waiting) => {
      if (waiting.id !== id || count < waiting.count) return true;
      waiting.resolve();
      return false;
    });
  }
}

function idOf(name: string, labels: readonly string[]): string {
  return [name, ...labels].join('\n');
}

/** Starts a node as the settings say; nothing is read from files or the environment. */
export async function startTestServer(
  settings: SettingsInput,
  overrides: AssemblyOverrides = { embedder: { missing: 'not in this test' } },
  logger?: Logger,
): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'reprise-test-'));
  const config = loadConfig({ file: false, env: {}, overrides: { dataDir, ...settings } });
  const telemetry = new WatchedTelemetry(logger);
  const assembly = await assemble(config, telemetry, overrides);
  const records: RequestRecord[] = [];
  const http = new HttpServer({
    service: assembly.node.service,
    resolveIdentity: (headers): Identity => {
      const apiKey = headers['x-api-key'] ?? headers['api-key'];
      return assembly.identity.resolve(headers.authorization, typeof apiKey === 'string' ? apiKey : undefined);
    },
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: config.node.bodyBytesMax,
    metrics: () => telemetry.text(),
    onInternalError: (error, requestId) => telemetry.failure('request failed', error, { requestId }),
    onRequestDone: (record) => {
      records.push(record);
      telemetry.request(record);
    },
  });
  await assembly.node.start();
  const { url } = await http.start();
  return new RunningTestServer({ url, assembly, telemetry, records, http, dataDir });
}

interface Parts {
  readonly url: string;
  readonly assembly: Assembly;
  readonly telemetry: WatchedTelemetry;
  readonly records: readonly RequestRecord[];
  readonly http: HttpServer;
  readonly dataDir: string;
}

class RunningTestServer implements TestServer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get url(): string {
    return this.#parts.url;
  }

  get assembly(): Assembly {
    return this.#parts.assembly;
  }

  get telemetry(): WatchedTelemetry {
    return this.#parts.telemetry;
  }

  get records(): readonly RequestRecord[] {
    return this.#parts.records;
  }

  client(apiKey = 'any'): OpenAI {
    return new OpenAI({ baseURL: `${this.url}/v1`, apiKey, maxRetries: 0 });
  }

  open(path: string, body: unknown, options: PostOptions = {}): Promise<Response> {
    const bytes =
      body instanceof Uint8Array ? new Uint8Array(body) : typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...options.headers },
      body: bytes,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }

  async post(path: string, body: unknown, options: PostOptions = {}): Promise<TestReply> {
    return readReply(await this.open(path, body, options));
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<TestReply> {
    return readReply(await fetch(`${this.url}${path}`, { headers }));
  }

  async settled(): Promise<void> {
    await this.#parts.assembly.node.drain(SETTLE_MS);
  }

  async close(): Promise<void> {
    await this.#parts.http.close(0);
    await this.#parts.assembly.stop();
    await rm(this.#parts.dataDir, { recursive: true, force: true });
  }
}

async function readReply(response: Response): Promise<TestReply> {
  const text = await response.text();
  const cache = response.headers.get('cache-status') ?? '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    cache: cache.startsWith(CACHE_PREFIX) ? cache.slice(CACHE_PREFIX.length) : cache,
    json: <T>() => JSON.parse(text) as T,
  };
}
