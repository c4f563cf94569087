import { afterEach, describe, expect, it } from 'vitest';
import { createReprise, type Identity, type Reprise } from './embedded.ts';

const OWNER: Identity = { tenant: 'local', role: 'admin', verified: true };
const EMBEDDINGS = { model: 'e', input: ['a text'] };
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'a question' }] };
const opened: Reprise[] = [];

afterEach(async () => {
  for (const reprise of opened.splice(0)) await reprise.close();
});

async function open(model: (call: number) => Promise<void> | void): Promise<{ reprise: Reprise; calls: () => number }> {
  let calls = 0;
  const reprise = await createReprise({
    settings: {
      semantic: { mode: 'off' },
      namespaces: { default: { ttlMs: 3_600_000, graceMs: 3_600_000 } },
      telemetry: { logLevel: 'error' },
    },
    model: async (request) => {
      calls += 1;
      const call = calls;
      await model(call);
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
  });
  opened.push(reprise);
  return { reprise, calls: () => calls };
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
  const soft = (reprise: Reprise) =>
    reprise.service.invalidate({
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
    ['chat completions', CHAT],
    ['embeddings', EMBEDDINGS],
  ])('of %s is served once more and refreshed meanwhile', async (_, request) => {
    let refreshed: () => void = () => undefined;
    const whenRefreshed = new Promise<void>((resolve) => (refreshed = resolve));
    const { reprise, calls } = await open((call) => {
      if (call === 2) refreshed();
    });
    await reprise.infer(request);
    await soft(reprise);

    const stale = await reprise.infer(request);
    await whenRefreshed;

    expect(stale.status.detail).toBe('stale');
    await expect.poll(async () => (await reprise.infer(request)).status.detail).toBe('exact-l1');
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
