import { afterEach, describe, expect, it } from 'vitest';
import { startEvents, startUpstream } from '../models/testing/test-upstream.ts';
import { createReprise, type Reprise, type RepriseOptions } from './embedded.ts';

const REQUEST = { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'Hello there' }] };
const WITHOUT_EMBEDDER = {
  semantic: { embedder: { modelDir: '/nonexistent' } },
  telemetry: { logLevel: 'error' as const },
};

let open: Reprise[] = [];

afterEach(async () => {
  for (const reprise of open) await reprise.close();
  open = [];
});

async function create(options: RepriseOptions = {}): Promise<Reprise> {
  const reprise = await createReprise({ ...options, settings: { ...WITHOUT_EMBEDDER, ...options.settings } });
  open.push(reprise);
  return reprise;
}

function counting(): { readonly model: () => Promise<string>; readonly calls: () => number } {
  let calls = 0;
  return {
    model: () => {
      calls += 1;
      return Promise.resolve(`Answer ${calls}.`);
    },
    calls: () => calls,
  };
}

function contentOf(answer: Record<string, unknown>): unknown {
  return (answer as { choices: { message: { content: unknown } }[] }).choices[0]?.message.content;
}

describe('createReprise', () => {
  it('calls the function once and answers from memory then', async () => {
    const { model, calls } = counting();
    const reprise = await create({ model });
    const miss = await reprise.infer(REQUEST);
    expect(miss.status).toMatchObject({ outcome: 'miss', stored: true });
    const hit = await reprise.infer(REQUEST);
    expect(hit.answer).toEqual(miss.answer);
    expect(contentOf(hit.answer)).toBe('Answer 1.');
    expect(calls()).toBe(1);
    expect(await reprise.metrics()).toContain('reprise_requests_total');
  });

  it('a request may bring its own function and controls', async () => {
    const reprise = await create();
    await expect(reprise.infer(REQUEST)).rejects.toMatchObject({ code: 'model_not_found' });
    const { model, calls } = counting();
    await reprise.infer(REQUEST, { model });
    await reprise.infer(REQUEST, { model, noCache: true });
    expect(calls()).toBe(2);
    await expect(reprise.infer({ ...REQUEST, seed: 1 }, { onlyIfCached: true })).rejects.toMatchObject({
      code: 'not_cached',
    });
  });

  it('says whose function failed', async () => {
    const model = (): Promise<string> => Promise.reject(new Error('out of order'));
    const reprise = await create({ model });
    await expect(reprise.infer(REQUEST)).rejects.toMatchObject({
      code: 'model_error',
      message: 'The model function of this program failed.',
    });
  });

  it('takes the names that every way in takes, so that what is stored can be invalidated', async () => {
    const { model } = counting();
    const reprise = await create({ model });
    for (const settings of [{ tags: ['user 42'] }, { namespace: 'a b' }, { namespace: '' }]) {
      await expect(reprise.infer(REQUEST, settings)).rejects.toMatchObject({
        code: 'invalid_control',
        param: Object.keys(settings)[0],
      });
    }
    await reprise.infer(REQUEST, { tags: ['user:42'] });
  });

  it('tenants share nothing', async () => {
    const { model, calls } = counting();
    const reprise = await create({ model });
    const a = await reprise.infer(REQUEST, { tenant: 'a' });
    const b = await reprise.infer(REQUEST, { tenant: 'b' });
    expect(contentOf(a.answer)).not.toBe(contentOf(b.answer));
    expect(calls()).toBe(2);
  });

  it('equal requests at once make one call; leaving the last one aborts it', async () => {
    let aborted = 0;
    let asked = 0;
    const reprise = await create({
      model: (_request, signal) => {
        asked += 1;
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted += 1;
            reject(new Error('left'));
          });
        });
      },
    });
    const leaving = new AbortController();
    const both = [1, 2].map(() => reprise.infer(REQUEST, { signal: leaving.signal }));
    const settled = Promise.allSettled(both);
    await new Promise(setImmediate);
    leaving.abort();
    for (const result of await settled) expect(result).toMatchObject({ reason: { code: 'cancelled' } });
    expect({ asked, aborted }).toEqual({ asked: 1, aborted: 1 });
  });

  it('streams, and replays a stream chunk for chunk', async () => {
    const reprise = await create({
      model: async function* () {
        await Promise.resolve();
        for (const [at, content] of ['One ', 'two'].entries()) {
          yield { id: 'x', choices: [{ index: 0, delta: { content }, finish_reason: at === 1 ? 'stop' : null }] };
        }
      },
    });
    const read = async (): Promise<unknown[]> => {
      const chunks: unknown[] = [];
      for await (const chunk of (await reprise.inferStream(REQUEST)).chunks) chunks.push(chunk);
      return chunks;
    };
    const miss = await read();
    expect(miss).toHaveLength(2);
    expect(await read()).toEqual(miss);
  });

  it('understands events of several lines', async () => {
    const upstream = await startUpstream((_seen, response) => {
      startEvents(response);
      const chunk = { id: 'x', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] };
      const lines = JSON.stringify(chunk, null, 1).split('\n');
      response.end(`${lines.map((line) => `data: ${line}`).join('\n')}\n\ndata: [DONE]\n\n`);
    });
    try {
      const reprise = await create({ settings: { upstreams: { test: { url: upstream.url } } } });
      const chunks: Record<string, unknown>[] = [];
      for await (const chunk of (await reprise.inferStream(REQUEST)).chunks) chunks.push(chunk);
      expect(chunks).toEqual([expect.objectContaining({ id: 'x' })]);
    } finally {
      await upstream.close();
    }
  });

  it('embeds, item by item', async () => {
    const seen: unknown[] = [];
    const reprise = await create({
      model: (request) => {
        seen.push(request['input']);
        const data = [request['input']].flat().map((_, index) => ({ index, embedding: [index] }));
        return Promise.resolve({ data });
      },
    });
    await reprise.infer({ model: 'e', input: ['a', 'b'] });
    const partly = await reprise.infer({ model: 'e', input: ['b', 'c'] });
    expect(partly.status.detail).toBe('partial-1/2');
    expect(seen).toEqual([['a', 'b'], 'c']);
  });

  it('refuses settings that are wrong', async () => {
    await expect(createReprise({ settings: { cache: { policy: 'none' as 'lru' } } })).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });
});
