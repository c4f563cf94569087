import { afterEach, describe, expect, it } from 'vitest';
import { FunctionModel } from '../models/function-model.ts';
import { createReprise, type Identity, type InferenceService, type ModelFunction, type Reprise } from './embedded.ts';
import { SystemClock } from './system-clock.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';

const OWNER: Identity = { tenant: 'local', role: 'admin', verified: true };
const EMBEDDINGS = { model: 'e', input: ['a text'] };
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'a question' }] };
const SETTINGS = {
  semantic: { mode: 'off' },
  namespaces: { default: { ttlMs: 3_600_000, graceMs: 3_600_000 } },
  telemetry: { logLevel: 'error' },
} as const;
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const node of opened.splice(0)) await node.close();
});

/** Answers with the number of the call, once `onCall` lets it. */
function numbered(onCall: (call: number) => Promise<void> | void): { model: ModelFunction; calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    model: async (request) => {
      calls += 1;
      const call = calls;
      await onCall(call);
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      if ('input' in request)
        return { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [call] }], model: 'e', usage };
      const message = { role: 'assistant', content: `answer ${call}` };
      return {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      };
    },
  };
}

async function open(
  onCall: (call: number) => Promise<void> | void,
): Promise<{ reprise: Reprise; calls: () => number }> {
  const { model, calls } = numbered(onCall);
  const reprise = await createReprise({ settings: SETTINGS, model });
  opened.push(reprise);
  return { reprise, calls };
}

/** The same model behind a server whose counters tell when something was stored. */
async function startServer(): Promise<{ server: TestServer; calls: () => number }> {
  const { model, calls } = numbered(() => undefined);
  const upstream = new FunctionModel({ clock: new SystemClock() }, model, { name: 'function', models: [] });
  const server = await startTestServer(SETTINGS, {
    embedder: { missing: 'not in this test' },
    upstreams: new Map([['function', upstream]]),
    defaultUpstream: 'function',
  });
  opened.push(server);
  return { server, calls };
}

function vectorOf(answer: Record<string, unknown>): unknown {
  return (answer['data'] as { embedding: unknown }[])[0]?.embedding;
}

describe('a flight of embedding items', () => {
  it('is never joined by a request from after an invalidation of the item', async () => {
    const gates = new Map<number, () => void>();
    const started = new Map<number, () => void>();
    const whenStarted = new Map(
      [1, 2, 3].map((call) => [call, new Promise<void>((resolve) => started.set(call, resolve))]),
    );
    const { reprise } = await open(async (call) => {
      started.get(call)?.();
      if (call > 1) await new Promise<void>((resolve) => gates.set(call, resolve));
    });
    const first = await reprise.infer(EMBEDDINGS);
    const early = reprise.infer(EMBEDDINGS, { noCache: false, maxAgeMs: 0 });
    await whenStarted.get(2);

    const target = { kind: 'entry', entryId: first.status.entryId } as const;
    await reprise.service.invalidate({ target, invalidation: 'hard', purge: false, identity: OWNER });
    const late = reprise.infer(EMBEDDINGS);
    await whenStarted.get(3);
    gates.get(2)?.();
    gates.get(3)?.();

    expect(vectorOf((await early).answer)).toEqual([2]);
    expect(vectorOf((await late).answer)).toEqual([3]);
  });
});

describe('a stale answer inside its grace', () => {
  const soft = ({ service }: { readonly service: InferenceService }) =>
    service.invalidate({
      target: { kind: 'namespace', namespace: 'default' },
      invalidation: 'soft',
      purge: false,
      identity: OWNER,
    });

  it.each([
    ['only-if-cached', { onlyIfCached: true }],
    ['no-store', { noStore: true }],
  ])('is not refreshed for a request that says %s', async (_, controls) => {
    const { reprise, calls } = await open(() => undefined);
    await reprise.infer(CHAT);
    await soft(reprise);

    const stale = await reprise.infer(CHAT, controls);
    await reprise.close();
    opened.length = 0;

    expect(stale.status).toMatchObject({ outcome: 'hit', detail: 'stale' });
    expect(calls()).toBe(1);
  });

  it.each([
    ['chat completions', '/v1/chat/completions', CHAT],
    ['embeddings', '/v1/embeddings', EMBEDDINGS],
  ])('of %s is served once more and refreshed meanwhile', async (_, path, request) => {
    const { server, calls } = await startServer();
    await server.post(path, request);
    await server.telemetry.counted(1, 'reprise_stores_total', 'stored');
    await soft(server.assembly.node);

    const stale = await server.post(path, request);
    await server.telemetry.counted(2, 'reprise_stores_total', 'stored');
    const fresh = await server.post(path, request);

    expect(stale.cache).toContain('detail=stale');
    expect(fresh.cache).toContain('detail=exact-l1');
    expect(calls()).toBe(2);
  });
});

describe('controls given in process', () => {
  it.each([
    ['maxAgeMs', { maxAgeMs: Number.NaN }],
    ['ttlMs', { ttlMs: Number.NaN }],
    ['threshold', { threshold: 2 }],
    ['bucket', { bucket: -1 }],
    ['tags', { tags: 'abc' as unknown as string[] }],
  ])('are checked: %s', async (param, controls) => {
    const { reprise } = await open(() => undefined);

    await expect(reprise.infer(CHAT, controls)).rejects.toMatchObject({ code: 'invalid_control', param });
  });

  it('that are undefined leave those of the body in force', async () => {
    const { reprise } = await open(() => undefined);
    const own = { ...CHAT, cache: { namespace: 'private' } };

    await reprise.infer(own, { namespace: undefined } as object);

    expect((await reprise.infer(CHAT)).status.outcome).toBe('miss');
    expect((await reprise.infer(own)).status.outcome).toBe('hit');
  });
});
