import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RepriseError } from '../errors.ts';
import type { Hash } from '../ports/hash.ts';
import type { Operation } from '../ports/model.ts';
import { canonicalRequest, type RequestFacts, type RequestRules, upstreamBody } from './canonical-request.ts';
import { canonicalJson, fromPlain } from './json.ts';

const hash: Hash = {
  sha256Hex: (data) => createHash('sha256').update(data).digest('hex'),
  sha256: (data) => createHash('sha256').update(data).digest(),
};
const encoder = new TextEncoder();
const PLAIN: RequestRules = {
  id: 'plain',
  model: { as: '', defaults: {}, overrides: {} },
  blank: [],
  isolateUser: false,
};

interface Setting {
  readonly operation?: Operation;
  readonly rules?: RequestRules;
  readonly namespace?: string;
}

function understand(body: unknown, setting: Setting = {}) {
  return canonicalRequest({
    operation: setting.operation ?? 'chat.completions',
    body: encoder.encode(typeof body === 'string' ? body : JSON.stringify(body)),
    headerNamespace: setting.namespace,
    rulesFor: () => setting.rules ?? PLAIN,
    hash,
    depthMax: 64,
  });
}

function facts(body: unknown, setting: Setting = {}): RequestFacts {
  return understand(body, setting).facts;
}

function refusal(body: unknown, setting: Setting = {}): [string, string | undefined] {
  try {
    understand(body, setting);
  } catch (error) {
    if (error instanceof RepriseError) return [error.code, error.param];
    throw error;
  }
  return ['none', undefined];
}

const CHAT = {
  model: 'm',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is a cache?' },
  ],
  temperature: 0.7,
  seed: 7,
  tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
  response_format: { type: 'json_object' },
};

/** JSON text of a value with members shuffled, white space strewn in and numbers spelled anew. */
function respell(value: unknown, pick: () => number): string {
  const gap = (): string => ['', ' ', '\n', '\t ', '\r\n'][pick() % 5] ?? '';
  if (typeof value === 'number') {
    const [mantissa = '', exponent = '0'] = String(value).split('e');
    const longer = mantissa.includes('.') ? `${mantissa}00` : `${mantissa}.0`;
    return (
      [String(value), `${mantissa}e${exponent}`, `${longer}E${exponent}`, `${longer}e${exponent}`][pick() % 4] ?? ''
    );
  }
  if (typeof value === 'string') {
    return pick() % 2 === 0
      ? JSON.stringify(value)
      : `"${Array.from(value, (c) => (c.length > 1 ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)).join('')}"`;
  }
  if (Array.isArray(value)) {
    return `[${gap()}${value.map((item) => respell(item, pick)).join(`${gap()},${gap()}`)}${gap()}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(() => (pick() % 3) - 1);
    return `{${gap()}${members.map(([k, v]) => `${JSON.stringify(k)}${gap()}:${gap()}${respell(v, pick)}`).join(`,${gap()}`)}${gap()}}`;
  }
  return JSON.stringify(value);
}

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((t) => /\S/.test(t));
const request = fc.record(
  {
    model: fc.constant('m'),
    messages: fc
      .array(fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: text }), { maxLength: 3 })
      .chain((history) => text.map((content) => [...history, { role: 'user', content }])),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    seed: fc.integer(),
    x_new_field: fc.jsonValue({ maxDepth: 2 }),
    tools: fc.constant(CHAT.tools),
  },
  { requiredKeys: ['model', 'messages'] },
);

describe('body hash', () => {
  it('does not depend on member order, white space or spelling', () => {
    fc.assert(
      fc.property(request, fc.infiniteStream(fc.nat()), (body, stream) => {
        const plain = JSON.parse(JSON.stringify(body)) as unknown;
        const spelled = respell(plain, () => stream.next().value as number);
        expect(facts(spelled)).toEqual(facts(plain));
      }),
    );
  });

  it.each([
    ['temperature', { ...CHAT, temperature: 0.8 }],
    ['absent temperature', { ...CHAT, temperature: undefined }],
    ['temperature null', { ...CHAT, temperature: null }],
    ['seed', { ...CHAT, seed: 8 }],
    ['tools', { ...CHAT, tools: [] }],
    ['system prompt', { ...CHAT, messages: [{ role: 'system', content: 'Be long.' }, CHAT.messages[1]] }],
    ['history', { ...CHAT, messages: [...CHAT.messages.slice(0, 1), ...CHAT.messages] }],
    ['question', { ...CHAT, messages: [CHAT.messages[0], { role: 'user', content: 'What is a cash?' }] }],
    ['response format', { ...CHAT, response_format: { type: 'text' } }],
    ['unknown field', { ...CHAT, num_ctx: 4096 }],
    ['max_tokens', { ...CHAT, max_tokens: 16 }],
    ['model', { ...CHAT, model: 'm2' }],
    ['member called ?', { ...CHAT, '?': 1 }],
  ])('changes with: %s', (_name, body) => {
    expect(facts(body).bodyHash).not.toBe(facts(CHAT).bodyHash);
  });

  it('tells seeds beyond 2^53 apart', () => {
    const seeded = (seed: string): string => JSON.stringify(CHAT).replace('"seed":7', `"seed":${seed}`);
    expect(facts(seeded('9007199254740993')).bodyHash).not.toBe(facts(seeded('9007199254740992')).bodyHash);
    expect(facts(seeded('9007199254740993')).bodyHash).toBe(facts(seeded('9007199254740993.0')).bodyHash);
  });

  it('changes when any field is added, removed or changed', () => {
    const field = fc.constantFrom('top_p', 'logit_bias', 'stop', 'n_probs', 'guided_json', 'reasoning_effort');
    fc.assert(
      fc.property(field, fc.jsonValue(), fc.jsonValue(), (name, a, b) => {
        const hashOf = (value: unknown): string => facts({ ...CHAT, [name]: value }).bodyHash;
        expect(hashOf(a) === hashOf(b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
        expect(hashOf(a)).not.toBe(facts(CHAT).bodyHash);
      }),
    );
  });

  it.each([
    ['stream', { stream: true }],
    ['stream_options', { stream: true, stream_options: { include_usage: true } }],
    ['metadata', { metadata: { a: 'b' } }],
    ['user', { user: 'u1' }],
    ['request_id', { request_id: 'r' }],
    ['cache', { cache: { ttl: 5 } }],
  ])('ignores %s', (_name, extra) => {
    expect(facts({ ...CHAT, ...extra }).bodyHash).toBe(facts(CHAT).bodyHash);
    expect(facts({ ...CHAT, ...extra }).scopeBodyHash).toBe(facts(CHAT).scopeBodyHash);
  });

  it('counts the user where users are isolated', () => {
    const rules = { ...PLAIN, isolateUser: true };
    const a = facts({ ...CHAT, user: 'a' }, { rules });
    const b = facts({ ...CHAT, user: 'b' }, { rules });
    expect(a.bodyHash).not.toBe(b.bodyHash);
    expect(a.scopeBodyHash).not.toBe(b.scopeBodyHash);
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value;
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
  return { members };
}

describe('canonical form of a body', () => {
  it('is that of the same value without inert fields, however it is cut', () => {
    const parts = [
      { type: 'text', text: 'a', x: [1] },
      { type: 'text', text: '' },
    ];
    const body = { ...CHAT, messages: [...CHAT.messages, { role: 'user', name: 'n', content: parts }] };
    const expected = hash.sha256Hex(canonicalJson(fromPlain(body)));
    expect(facts(body).bodyHash).toBe(expected);
    expect(facts({ ...body, user: 'u', stream: true }).bodyHash).toBe(expected);
  });
});

describe('scope hash', () => {
  const ask = (content: unknown, extra: object = {}): unknown => ({
    ...CHAT,
    messages: [CHAT.messages[0], { role: 'user', content, ...extra }],
  });

  it('leaves out exactly the asked text', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(facts(ask(a)).scopeBodyHash).toBe(facts(ask(b)).scopeBodyHash);
        expect(facts(ask(a)).bodyHash === facts(ask(b)).bodyHash).toBe(a === b);
      }),
    );
  });

  it('changes with everything else', () => {
    const base = facts(CHAT).scopeBodyHash;
    const others: unknown[] = [
      { ...CHAT, temperature: 0 },
      { ...CHAT, tools: undefined },
      { ...CHAT, model: 'm2' },
      { ...CHAT, x: null },
      ask('What is a cache?', { name: 'bob' }),
      ask([{ type: 'text', text: 'What is a cache?' }]),
      { ...CHAT, messages: [{ role: 'system', content: '?' }, CHAT.messages[1]] },
      { ...CHAT, messages: [CHAT.messages[1]] },
      { ...CHAT, messages: [CHAT.messages[1], ...CHAT.messages] },
    ];
    const hashes = others.map((body) => facts(body).scopeBodyHash);
    expect(new Set([base, ...hashes]).size).toBe(others.length + 1);
    expect(hashes).not.toContain('');
  });

  it('keeps history: the same question after other words is in another scope', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const after = (content: string): unknown => ({
          ...CHAT,
          messages: [{ role: 'user', content }, { role: 'assistant', content: 'Well.' }, CHAT.messages[1]],
        });
        expect(facts(after(a)).scopeBodyHash === facts(after(b)).scopeBodyHash).toBe(a === b);
      }),
    );
  });

  it('joins text parts and keeps what stands beside them', () => {
    const part = (t: string, extra: object = {}): object => ({ type: 'text', text: t, ...extra });
    const two = facts(ask([part('a'), part('b')]));
    expect(two.askedText).toBe('a\nb');
    expect(facts(ask([part('c'), part('d')])).scopeBodyHash).toBe(two.scopeBodyHash);
    expect(facts(ask([part('a')])).scopeBodyHash).not.toBe(two.scopeBodyHash);
    expect(facts(ask([part('a', { cache_control: 1 }), part('b')])).scopeBodyHash).not.toBe(two.scopeBodyHash);
  });

  it('tells apart texts that are only cut elsewhere', () => {
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const parts = (...texts: string[]): unknown => ask(texts.map((of) => ({ type: 'text', text: of })));
        const [one, two] = [facts(parts(`${a}\n${b}`, c)), facts(parts(a, `${b}\n${c}`))];
        expect(one.askedText).toBe(two.askedText);
        if (one.askedText !== '') expect(one.scopeBodyHash === two.scopeBodyHash).toBe(one.bodyHash === two.bodyHash);
      }),
    );
  });

  it('reads parts that hold lists of their own', () => {
    const odd = facts(ask([{ type: 'text', content: [1, null], text: 'a' }]));
    expect(odd.askedText).toBe('a');
    expect(facts(ask([{ type: 'text', content: [2, null], text: 'a' }])).scopeBodyHash).not.toBe(odd.scopeBodyHash);
  });

  it.each([
    [
      'an image',
      ask([
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'u' } },
      ]),
    ],
    ['no text', ask('  \n')],
    ['null', ask(null)],
    ['an assistant last', { ...CHAT, messages: [...CHAT.messages, { role: 'assistant', content: 'So' }] }],
    ['a tool last', { ...CHAT, messages: [...CHAT.messages, { role: 'tool', content: 'So', tool_call_id: 'c' }] }],
    ['no message', { ...CHAT, messages: [] }],
    ['an echo', { ...CHAT, echo: true }],
    ['the log probabilities of the prompt', { ...CHAT, prompt_logprobs: 0 }],
  ])('is empty with %s', (_name, body) => {
    const { scopeBodyHash, askedText } = facts(body);
    expect({ scopeBodyHash, askedText }).toEqual({ scopeBodyHash: '', askedText: '' });
  });

  it('is empty where the rules reuse nothing semantically', () => {
    expect(facts(CHAT, { rules: { ...PLAIN, scoped: false } })).toEqual({
      ...facts(CHAT),
      scopeBodyHash: '',
      askedText: '',
    });
  });

  it('covers a single prompt of completions', () => {
    const operation = 'completions';
    const a = facts({ model: 'm', prompt: 'One?', suffix: 's' }, { operation });
    const b = facts({ model: 'm', prompt: 'Two?', suffix: 's' }, { operation });
    expect(a.askedText).toBe('One?');
    expect(a.scopeBodyHash).toBe(b.scopeBodyHash);
    expect(facts({ model: 'm', prompt: 'One?' }, { operation }).scopeBodyHash).not.toBe(a.scopeBodyHash);
    expect(facts({ model: 'm', prompt: ['One?'] }, { operation }).scopeBodyHash).toBe('');
  });

  it('keeps raw prompts apart whose outer white space differs', () => {
    const scopeOf = (prompt: string): string =>
      facts({ model: 'm', prompt }, { operation: 'completions' }).scopeBodyHash;
    const space = fc.stringMatching(/^[ \n\r\t\u00a0\u2028]{0,3}$/u);
    const asked = fc.tuple(space, space, fc.constantFrom('One?', 'Two  or three'));
    fc.assert(
      fc.property(asked, asked, ([beforeA, afterA, a], [beforeB, afterB, b]) => {
        const areOne = scopeOf(beforeA + a + afterA) === scopeOf(beforeB + b + afterB);
        expect(areOne).toBe(beforeA === beforeB && afterA === afterB);
      }),
    );
    const chat = (content: string): string =>
      facts({ model: 'm', messages: [{ role: 'user', content }] }).scopeBodyHash;
    expect(chat('One?\n')).toBe(chat('One?'));
  });

  it.each([
    [{ echo: true }, true],
    [{ echo: 1 }, true],
    [{ prompt_logprobs: 0 }, true],
    [{ echo: false, prompt_logprobs: null }, false],
    [{ echo: null }, false],
  ])('is empty for completions that hold their prompt: %j, %s', (extra, empty) => {
    const found = facts({ model: 'm', prompt: 'One?', ...extra }, { operation: 'completions' });
    expect([found.scopeBodyHash === '', found.askedText]).toEqual([empty, empty ? '' : 'One?']);
  });

  it.each([[5], [[]], [[{ role: 'user', content: 'x' }]]])(
    'sees nothing in completions with messages %j',
    (messages) => {
      const of = (prompt: string): RequestFacts =>
        facts({ model: 'm', prompt, messages }, { operation: 'completions' });
      expect(of('One?').scopeBodyHash).toBe(of('Two?').scopeBodyHash);
      expect(of('One?').scopeBodyHash).not.toBe(
        facts({ model: 'm', prompt: 'One?' }, { operation: 'completions' }).scopeBodyHash,
      );
    },
  );

  it('takes no part in embeddings', () => {
    expect(facts({ model: 'm', input: 'One?' }, { operation: 'embeddings' }).scopeBodyHash).toBe('');
  });
});

describe('effective request', () => {
  const rules: RequestRules = {
    id: 'r',
    model: { as: 'real', defaults: { temperature: 0, top_p: 1 }, overrides: { max_tokens: 9 } },
    blank: [],
    isolateUser: false,
  };

  it('has defaults where the body has nothing, overrides always, and the alias', () => {
    const { tree, facts: found } = understand({ ...CHAT, max_tokens: 5 }, { rules });
    expect([tree.get('temperature'), tree.get('top_p'), tree.get('max_tokens'), tree.get('model')]).toEqual([
      0.7,
      1,
      9,
      'real',
    ]);
    expect([found.askedModel, found.model]).toEqual(['m', 'real']);
  });

  it('is what the key counts', () => {
    const spelledOut = facts({ ...CHAT, model: 'real', top_p: 1, max_tokens: 9 });
    expect(facts(CHAT, { rules }).bodyHash).toBe(spelledOut.bodyHash);
  });

  it('asks for rules by the asked model and the namespace, the header before the body', () => {
    const asked: unknown[] = [];
    const understandIn = (body: object, headerNamespace: string | undefined): void => {
      canonicalRequest({
        operation: 'chat.completions',
        body: encoder.encode(JSON.stringify(body)),
        headerNamespace,
        rulesFor: (model, namespace) => {
          asked.push([model, namespace]);
          return PLAIN;
        },
        hash,
        depthMax: 64,
      });
    };
    understandIn(CHAT, undefined);
    understandIn({ ...CHAT, cache: { namespace: 'b' } }, undefined);
    understandIn({ ...CHAT, cache: { namespace: 'b' } }, 'h');
    expect(asked).toEqual([
      ['m', undefined],
      ['m', 'b'],
      ['m', 'h'],
    ]);
  });
});

describe('blank rules', () => {
  const rules: RequestRules = { ...PLAIN, blank: [{ pattern: '\\d{4}-\\d{2}-\\d{2}', replacement: '<date>' }] };
  const dated = (date: string): unknown => ({
    ...CHAT,
    messages: [{ role: 'system', content: `Today is ${date}.` }, CHAT.messages[1]],
  });

  it('hide volatile parts from key and scope', () => {
    const [a, b] = [facts(dated('2026-01-01'), { rules }), facts(dated('2026-01-02'), { rules })];
    expect(a.bodyHash).toBe(b.bodyHash);
    expect(a.scopeBodyHash).toBe(b.scopeBodyHash);
  });

  it('leave the forwarded body alone', () => {
    const { tree } = understand(dated('2026-01-01'), { rules });
    expect(new TextDecoder().decode(upstreamBody(tree, { stream: false }))).toContain('2026-01-01');
  });

  it('never make two models one', () => {
    const a = facts({ ...CHAT, model: 'm-2026-01-01' }, { rules });
    expect(a.bodyHash).not.toBe(facts({ ...CHAT, model: 'm-2026-01-02' }, { rules }).bodyHash);
  });
});

describe('facts', () => {
  it.each([
    ['no temperature, no seed', {}, true],
    ['temperature null', { temperature: null }, true],
    ['temperature 0', { temperature: 0 }, false],
    ['temperature 1', { temperature: 1 }, true],
    ['seeded', { temperature: 1, seed: 1 }, false],
    ['seed null', { temperature: 1, seed: null }, true],
  ])('unseeded sampling: %s', (_name, extra, expected) => {
    expect(facts({ model: 'm', messages: [], ...extra }).unseededSampling).toBe(expected);
  });

  it('takes stream, usage and choices from the body', () => {
    const found = facts({ ...CHAT, stream: true, stream_options: { include_usage: true }, n: 2 });
    expect([found.stream, found.includeUsage, found.choices]).toEqual([true, true, 2]);
    expect([facts(CHAT).stream, facts(CHAT).includeUsage, facts(CHAT).choices]).toEqual([false, false, 1]);
  });

  it.each([
    ['previous_response_id', { previous_response_id: 'r' }],
    ['conversation', { conversation: { id: 'c' } }],
    ['background', { background: true }],
    ['web_search_options', { web_search_options: {} }],
    ['search_parameters', { search_parameters: { mode: 'auto' } }],
    ['plugins', { plugins: [{ id: 'web' }] }],
    ['background', { background: 'yes' }],
    ['enable_search', { enable_search: 1 }],
    ['data_sources', { data_sources: [{ type: 'azure_search' }] }],
    ['web_search', { web_search: {} }],
    ['search_mode', { search_mode: 'academic' }],
    ['mcp_servers', { mcp_servers: [{ url: 'u' }] }],
    ['tools[1].type', { tools: [CHAT.tools[0], { type: 'web_search_preview' }] }],
    ['tools[0].type', { tools: [{ google_search: {} }] }],
  ])('bypass for %s', (field, extra) => {
    expect(facts({ ...CHAT, ...extra }).bypassField).toBe(field);
  });

  it.each([
    [{ previous_response_id: null }],
    [{ background: false }],
    [{ web_search_options: null }],
    [{ search_parameters: { mode: 'off' } }],
    [{ plugins: [] }],
    [{ enable_search: 0, background: null, web_search: false }],
    [{ search_mode: 'off', mcp_servers: [], data_sources: '' }],
    [{ tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    [{ tools: null }],
  ])('no bypass for %j', (extra) => {
    expect(facts({ ...CHAT, ...extra }).bypassField).toBe('');
  });
});

describe('cache object', () => {
  it('becomes controls and is not forwarded', () => {
    const cache = { ttl: 1.5, 's-maxage': 60, 'no-cache': true, 'no-store': false, namespace: 'n' };
    const { facts: found, tree } = understand({ ...CHAT, cache });
    expect(found.bodyControls).toEqual({
      ttlMs: 1_500,
      maxAgeMs: 60_000,
      noCache: true,
      noStore: false,
      namespace: 'n',
    });
    expect(tree.has('cache')).toBe(false);
  });

  it.each([
    ['cache', 'yes'],
    ['cache', []],
    ['cache.ttl', { ttl: -1 }],
    ['cache.ttl', { ttl: '60' }],
    ['cache.ttl', { ttl: 1e15 }],
    ['cache.ttl', { ttl: 0 }],
    ['cache.ttl', { ttl: 0.0004 }],
    ['cache.s-maxage', { 's-maxage': null }],
    ['cache.no-cache', { 'no-cache': 1 }],
    ['cache.namespace', { namespace: '' }],
    ['cache.namespace', { namespace: 'a b' }],
    ['cache.namespace', { namespace: 'a'.repeat(129) }],
    ['cache.max-age', { 'max-age': 1 }],
  ])('is refused at %s: %j', (param, cache) => {
    expect(refusal({ ...CHAT, cache })).toEqual(['invalid_control', param]);
  });
});

describe('validation', () => {
  it.each([
    ['model', { messages: [] }],
    ['model', { model: 4, messages: [] }],
    ['messages', { model: 'm' }],
    ['messages', { model: 'm', messages: {} }],
    ['messages[0]', { model: 'm', messages: ['hi'] }],
    ['messages[1].role', { model: 'm', messages: [CHAT.messages[0], { content: 'x' }] }],
    ['messages[0].content', { model: 'm', messages: [{ role: 'user', content: 5 }] }],
    ['messages[0].content[0]', { model: 'm', messages: [{ role: 'user', content: ['x'] }] }],
    ['messages[0].content[0].type', { model: 'm', messages: [{ role: 'user', content: [{}] }] }],
    ['messages[0].content[0].text', { model: 'm', messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['stream', { ...CHAT, stream: 'yes' }],
    ['stream_options', { ...CHAT, stream_options: [] }],
    ['stream_options.include_usage', { ...CHAT, stream_options: { include_usage: 1 } }],
    ['temperature', { ...CHAT, temperature: 'hot' }],
    ['n', { ...CHAT, n: 0 }],
    ['n', { ...CHAT, n: 1.5 }],
    ['tools', { ...CHAT, tools: {} }],
    ['user', { ...CHAT, user: 1 }],
  ])('names %s', (param, body) => {
    expect(refusal(body)).toEqual(['invalid_request', param]);
  });

  it.each([[undefined], [null], [5], [[]], [[1, 'a']], [[{}]], [[['a']]], [[[1], 1]]])(
    'refuses the input %j',
    (input) => {
      expect(refusal({ model: 'm', input }, { operation: 'embeddings' })).toEqual(['invalid_request', 'input']);
    },
  );

  it.each([['a'], [['a', 'b']], [[1, 2]], [[[1], [2, 3]]]])('accepts the input %j', (input) => {
    expect(refusal({ model: 'm', input }, { operation: 'embeddings' })).toEqual(['none', undefined]);
  });

  it('refuses a prompt that is an object', () => {
    expect(refusal({ model: 'm', prompt: {} }, { operation: 'completions' })).toEqual(['invalid_request', 'prompt']);
  });

  it('refuses a body that is not an object', () => {
    expect(refusal('[]')).toEqual(['invalid_request', undefined]);
  });
});

describe('upstreamBody', () => {
  const bodyOf = (extra: object, stream: boolean): unknown =>
    JSON.parse(new TextDecoder().decode(upstreamBody(understand({ ...CHAT, ...extra }).tree, { stream })));

  it('asks streams for usage and keeps other stream options', () => {
    expect(bodyOf({ stream: false, stream_options: { x: 1, include_usage: false } }, true)).toEqual({
      ...CHAT,
      stream: true,
      stream_options: { x: 1, include_usage: true },
    });
  });

  it('asks for a whole answer without stream fields', () => {
    expect(bodyOf({ stream: true, stream_options: { include_usage: true } }, false)).toEqual(CHAT);
  });

  it('forwards inert fields and large numbers as they came', () => {
    const body = '{"model":"m","messages":[],"seed":12345678901234567890,"user":"u","metadata":{"a":"b"}}';
    expect(new TextDecoder().decode(upstreamBody(understand(body).tree, { stream: false }))).toBe(body);
  });

  it('leaves the tree as it was', () => {
    const { tree } = understand({ ...CHAT, stream_options: { x: 1 } });
    upstreamBody(tree, { stream: true });
    expect([tree.has('stream'), tree.get('stream_options')]).toEqual([false, new Map([['x', 1]])]);
  });
});
