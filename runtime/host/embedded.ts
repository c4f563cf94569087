import { loadConfig, type SettingsInput } from '../config/index.ts';
import { RepriseError } from '../errors.ts';
import { FunctionModel, type ModelFunction } from '../models/function-model.ts';
import { NEVER_CANCELLED } from '../ports/cancel-signal.ts';
import type { Operation } from '../ports/model.ts';
import type {
  CacheControls,
  CacheStatus,
  Identity,
  InferenceRequest,
  InferenceService,
  UsageAccount,
} from '../ports/service.ts';
import { assemble } from './assembly.ts';
import { SystemClock } from './system-clock.ts';
import { HostTelemetry } from './telemetry.ts';

export type { ModelFunction } from '../models/function-model.ts';
export type { CacheControls, CacheStatus, Identity, InferenceService, UsageAccount } from '../ports/service.ts';
export { RepriseError } from '../errors.ts';

/** How an embedding program sets up its own node. */
export interface RepriseOptions {
  /** Settings as in `reprise.yaml`; no file and no environment variable is read. */
  readonly settings?: SettingsInput;
  /** The model that is called where a request brings none of its own. */
  readonly model?: ModelFunction;
}

/** What may be said of one request; all of it is optional. */
export interface CallSettings extends CacheControls {
  /** The model to call on a miss. */
  readonly model?: ModelFunction;
  /** Whose answers these are; one tenant's are never served to another. Default: `identity.tenant`. */
  readonly tenant?: string;
  /** Default: chat completions where the request has `messages`, embeddings where it has `input`, else completions. */
  readonly operation?: Operation;
  readonly signal?: AbortSignal;
}

/** An answer in OpenAI's shape, and what the cache did. */
export interface CachedAnswer {
  readonly answer: Record<string, unknown>;
  readonly status: CacheStatus;
  readonly usage: UsageAccount;
}

/** A streamed answer: chunks in OpenAI's shape. */
export interface CachedStream {
  readonly status: CacheStatus;
  readonly chunks: AsyncIterable<Record<string, unknown>>;
}

/** The cache inside a program of yours. */
export interface Reprise {
  /** Answers from memory, else calls the model, once for all who ask the same at the time. */
  infer(request: Record<string, unknown>, settings?: CallSettings): Promise<CachedAnswer>;
  /** The same as a stream; the model function gets `stream: true`. */
  inferStream(request: Record<string, unknown>, settings?: CallSettings): Promise<CachedStream>;
  /** The whole service, for the Fastify plugin and for invalidation, explain, stats. */
  readonly service: InferenceService;
  /** Metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Waits for stores under way (at most 10 s) and stops. */
  close(): Promise<void>;
}

const FUNCTION_UPSTREAM = 'function';
/** What tells the function of the embedding program from an upstream's, in messages. */
const OF_THIS_PROGRAM = 'of this program';
const DRAIN_MS = 10_000;

/** Starts a node in this process. Errors: `config_invalid`. */
export async function createReprise(options: RepriseOptions = {}): Promise<Reprise> {
  const config = loadConfig({ file: false, env: {}, overrides: options.settings ?? {} });
  const telemetry = new HostTelemetry({ logLevel: config.telemetry.logLevel });
  const clock = new SystemClock();
  const fallback = new FunctionModel({ clock }, options.model ?? noModel, { name: OF_THIS_PROGRAM, models: [] });
  const assembly = await assemble(config, telemetry, {
    upstreams: new Map([[FUNCTION_UPSTREAM, fallback]]),
    ...(Object.keys(config.upstreams).length === 0 ? { defaultUpstream: FUNCTION_UPSTREAM } : {}),
  });
  await assembly.node.start();
  const { service } = assembly.node;
  const requestOf = (request: Record<string, unknown>, settings: CallSettings): InferenceRequest => {
    const { model, tenant, operation, signal, ...controls } = settings;
    const identity: Identity = { tenant: tenant ?? config.identity.tenant, role: 'admin', verified: true };
    return {
      operation: operation ?? operationOf(request),
      body: new TextEncoder().encode(JSON.stringify(request)),
      identity,
      controls,
      signal: signal ?? NEVER_CANCELLED,
      ...(model === undefined
        ? {}
        : { model: new FunctionModel({ clock }, model, { name: OF_THIS_PROGRAM, models: [] }) }),
    };
  };
  return {
    service,
    async infer(request, settings = {}) {
      const { body, status, usage } = await service.infer(requestOf(request, settings));
      return { answer: JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>, status, usage };
    },
    async inferStream(request, settings = {}) {
      const reply = await service.inferStream(requestOf({ ...request, stream: true }, settings));
      return { status: reply.status, chunks: parsedChunks(reply.chunks) };
    },
    metrics: () => telemetry.text(),
    async close() {
      await assembly.node.drain(DRAIN_MS);
      await assembly.stop();
      telemetry.flush();
    },
  };
}

function noModel(): never {
  throw new RepriseError(
    'model_not_found',
    'There is no model to call: give createReprise or infer a `model` function.',
  );
}

function operationOf(request: Record<string, unknown>): Operation {
  if ('messages' in request) return 'chat.completions';
  return 'input' in request ? 'embeddings' : 'completions';
}

const EVENT_END = '\n\n';
const DATA = 'data: ';

async function* parsedChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Record<string, unknown>> {
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    for (const event of decoder.decode(chunk).split(EVENT_END)) {
      if (event.startsWith(DATA)) yield JSON.parse(event.slice(DATA.length)) as Record<string, unknown>;
    }
  }
}
