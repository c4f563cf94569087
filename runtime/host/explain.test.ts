import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { respondJson } from '../models/testing/test-upstream.ts';
import { answerWith, says, startScriptedUpstream, type ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';

interface Explained {
  readonly key: string;
  readonly status: { readonly outcome: string; readonly detail: string };
  readonly reasons: readonly string[];
  readonly semantic: {
    readonly candidates: readonly { readonly storedText: string; readonly reason: string; readonly vetoes: string[] }[];
  };
  readonly nearest?: { readonly entryId: string; readonly differingFields: readonly string[] };
}

let upstream: ScriptedUpstream;
let server: TestServer;

beforeEach(async () => {
  upstream = await startScriptedUpstream((call) => {
    if (!call.path.endsWith('/embeddings')) return answerWith(says('Yes.'))(call);
    const data = [call.body['input']].flat().map((_, index) => ({ object: 'embedding', index, embedding: [1, 2] }));
    respondJson(call.response, { object: 'list', data, model: 'e', usage: { prompt_tokens: 1, total_tokens: 1 } });
  });
  server = await startTestServer(
    {
      upstreams: { test: { url: upstream.url } },
      semantic: { mode: 'serve' },
      namespaces: { peruser: { isolateUser: true } },
      cache: { lookupBudgetMs: 10_000 },
    },
    { embedder: new TestEmbedder() },
  );
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

const BASE = {
  model: 'gpt-test',
  temperature: 0,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'weather today | please' },
  ],
};

type Headers = Record<string, string>;

async function ask(body: object, headers: Headers = {}): Promise<string> {
  const reply = await server.post(CHAT, body, { headers });
  await server.settled();
  return reply.headers.get('x-reprise-entry') ?? '';
}

async function explain(body: object, headers: Headers = {}, operation = 'chat.completions'): Promise<Explained> {
  return (await server.post('/admin/explain', { operation, body }, { headers })).json<Explained>();
}

describe('why a request would hit', () => {
  it('says that its key is stored, under the id that its reply named', async () => {
    const entry = await ask(BASE);
    const explained = await explain(BASE);
    expect(explained).toMatchObject({ key: entry, status: { outcome: 'hit', detail: 'exact-l1' } });
    expect(explained.reasons).toEqual(['The exact key is stored (exact-l1).']);
    expect(explained.nearest).toBeUndefined();
  });

  it('says which stored text would serve', async () => {
    await ask(BASE);
    const explained = await explain({
      ...BASE,
      messages: [BASE.messages[0], { role: 'user', content: 'weather today | tell me' }],
    });
    expect(explained.status).toMatchObject({ outcome: 'hit', detail: 'semantic' });
    expect(explained.semantic.candidates).toEqual([
      expect.objectContaining({ storedText: 'weather today | please', reason: 'served' }),
    ]);
  });

  it('calls no model and changes nothing', async () => {
    await explain(BASE);
    expect(upstream.calls).toHaveLength(0);
    const { entries, requests } = (await server.get('/admin/stats')).json<{ entries: number; requests: number }>();
    expect({ entries, requests }).toEqual({ entries: 0, requests: 0 });
  });
});

describe('why a request misses: the fields in which the nearest stored key differs', () => {
  const USER = BASE.messages[1]!;
  const CASES: readonly { readonly body: object; readonly headers?: Headers; readonly fields: string[] }[] = [
    { body: { ...BASE, temperature: 0.5 }, fields: ['temperature'] },
    { body: { ...BASE, seed: 1 }, fields: ['seed'] },
    { body: { ...BASE, model: 'gpt-other' }, fields: ['model'] },
    { body: { ...BASE, new_field: { deep: [1] } }, fields: ['new_field'] },
    {
      body: { ...BASE, messages: [{ role: 'system', content: 'Be long.' }, USER] },
      fields: ['messages[0].content'],
    },
    {
      body: { ...BASE, messages: [...BASE.messages, { role: 'user', content: 'More' }] },
      fields: ['messages[2].content', 'messages[2].role'],
    },
    { body: BASE, headers: { 'x-reprise-namespace': 'other' }, fields: ['(namespace)'] },
    { body: BASE, headers: { 'x-reprise-tags': 'b,a' }, fields: ['(tags)'] },
  ];

  it.each(CASES)('$fields', async ({ body, headers = {}, fields }) => {
    const entry = await ask(BASE);
    await ask({ ...BASE, model: 'far', seed: 9, top_p: 0.3, messages: [USER] });
    const explained = await explain(body, headers);
    expect(explained.status.outcome).toBe('miss');
    expect(explained.nearest).toEqual({ entryId: entry, differingFields: fields });
    expect(explained.reasons[0]).toBe('The exact key is not stored.');
  });

  it('names the user where a namespace keeps users apart', async () => {
    const headers = { 'x-reprise-namespace': 'peruser' };
    const entry = await ask({ ...BASE, user: 'a' }, headers);
    const explained = await explain({ ...BASE, user: 'b' }, headers);
    expect(explained.nearest).toEqual({ entryId: entry, differingFields: ['user'] });
  });

  it('fields that do not count make no difference', async () => {
    await ask(BASE);
    const explained = await explain({ ...BASE, user: 'x', metadata: { a: 1 }, stream: true });
    expect(explained.status).toMatchObject({ outcome: 'hit', detail: 'exact-l1' });
  });

  it('tells of an invalidated entry', async () => {
    const entry = await ask(BASE);
    await server.post('/admin/invalidate', { entry });
    expect((await explain(BASE)).reasons[0]).toBe('The exact key is stored, but it was invalidated.');
  });

  it('tells of a guard that vetoed', async () => {
    await ask({ ...BASE, messages: [{ role: 'user', content: 'wait 5 minutes | please' }] });
    const explained = await explain({
      ...BASE,
      messages: [{ role: 'user', content: 'wait 5 minutes | take 6 minutes' }],
    });
    expect(explained.semantic.candidates[0]?.vetoes).toContain('dates');
    expect(explained.reasons).toContain('Every near text was refused; see the candidates.');
  });

  it('tells why a stateful request uses no tier', async () => {
    const explained = await explain({ ...BASE, background: true });
    expect(explained.status).toMatchObject({ outcome: 'bypass', detail: 'stateful' });
    expect(explained.reasons[0]).toContain("'background'");
    expect(explained.semantic.candidates).toEqual([]);
  });
});

describe('embeddings', () => {
  it('are explained item by item’s key: a single item that is stored is a hit', async () => {
    const body = { model: 'e', input: 'one' };
    const stored = await server.post('/v1/embeddings', body);
    await server.settled();
    const explained = await explain(body, {}, 'embeddings');
    expect(explained.key).toBe(stored.headers.get('x-reprise-entry'));
    expect(explained.status).toMatchObject({ outcome: 'hit', detail: 'exact-l1' });
  });

  it('a batch says how many of its items are stored', async () => {
    await server.post('/v1/embeddings', { model: 'e', input: ['one', 'two'] });
    await server.settled();
    const explained = await explain({ model: 'e', input: ['one', 'three', 'two'] }, {}, 'embeddings');
    expect(explained.status.outcome).toBe('miss');
    expect(explained.reasons).toContain('2 of 3 items are stored.');
  });
});
