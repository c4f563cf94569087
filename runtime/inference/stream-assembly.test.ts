import fc from 'fast-check';
import OpenAI from 'openai';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../errors.ts';
import {
  assembleBody,
  convertible,
  frameEvent,
  isStorable,
  synthesizeStream,
  usageEventRange,
} from './stream-assembly.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function bytes(value: unknown): Uint8Array {
  return encoder.encode(typeof value === 'string' ? value : JSON.stringify(value));
}

function recording(...events: unknown[]): Uint8Array {
  return Uint8Array.from(events.flatMap((event) => [...frameEvent(bytes(event))]));
}

function eventsOf(stream: Uint8Array): Record<string, unknown>[] {
  return decoder
    .decode(stream)
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as Record<string, unknown>);
}

function assemble(...events: unknown[]): unknown {
  const body = assembleBody('chat.completions', recording(...events));
  return body === undefined ? undefined : (JSON.parse(decoder.decode(body)) as unknown);
}

function assembledMessage(...deltas: unknown[]): unknown {
  const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
  return (assemble(...chunks, last) as { choices: { message: unknown }[] }).choices[0]?.message;
}

const HEAD = { id: 'c1', object: 'chat.completion.chunk', created: 5, model: 'm', system_fingerprint: 'fp' };
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

describe('assembleBody', () => {
  it('makes one completion of its chunks', () => {
    const whole = assemble(
      {
        ...HEAD,
        choices: [{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }],
      },
      { ...HEAD, choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }], obfuscation: 'xx' },
      { ...HEAD, choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: null }] },
      { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...HEAD, choices: [], usage: USAGE },
    );
    expect(whole).toEqual({
      ...HEAD,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, finish_reason: 'stop' }],
      usage: USAGE,
    });
  });

  it('keeps choices apart and in order', () => {
    const of = (index: number, content: string, finish_reason: string | null): unknown => ({
      choices: [{ index, delta: { content }, finish_reason }],
    });
    const whole = assemble(of(1, 'b', null), of(0, 'a', null), of(1, 'B', 'length'), of(0, 'A', 'stop'));
    expect(whole).toEqual({
      choices: [
        { index: 0, message: { role: 'assistant', content: 'aA' }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: 'bB' }, finish_reason: 'length' },
      ],
    });
  });

  it('joins tool calls by index', () => {
    const call = (index: number, rest: object): unknown => ({ tool_calls: [{ index, ...rest }] });
    const message = assembledMessage(
      { role: 'assistant', content: null },
      call(1, { id: 'b', type: 'function', function: { name: 'two', arguments: '' } }),
      call(0, { id: 'a', type: 'function', function: { name: 'on', arguments: '{"x"' } }),
      call(0, { id: 'a', type: 'function', function: { name: 'e', arguments: ':1}' } }),
      call(1, { function: { name: 'two', arguments: '{}' } }),
    );
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'two', arguments: '{}' } },
      ],
    });
  });

  describe('tells tool calls apart', () => {
    const calls = (...pieces: object[]): unknown =>
      (assembledMessage(...pieces.map((piece) => ({ tool_calls: [piece] }))) as { tool_calls: unknown }).tool_calls;
    const of = (name: string, args: string): object => ({ function: { name, arguments: args } });

    it('that share an index but not an id', () => {
      const pieces = [
        { index: 0, id: 'a', ...of('f', '{"x"') },
        { index: 0, function: { arguments: ':1}' } },
        { index: 0, id: 'b', ...of('g', '{') },
        { index: 0, id: '', function: { arguments: '}' } },
      ];
      expect(calls(...pieces)).toEqual([
        { id: 'a', ...of('f', '{"x":1}') },
        { id: 'b', ...of('g', '{}') },
      ]);
    });

    it('that carry no index', () => {
      const pieces = [
        { id: 'a', ...of('f', '{') },
        { function: { arguments: '}' } },
        { id: 'b', ...of('g', '{') },
        { function: { arguments: '}' } },
      ];
      expect(calls(...pieces)).toEqual([
        { id: 'a', ...of('f', '{}') },
        { id: 'b', ...of('g', '{}') },
      ]);
    });

    it('that carry neither index nor id, by their names', () => {
      expect(calls(of('f', '{}'), of('g', '{'), { function: { arguments: '}' } })).toEqual([
        of('f', '{}'),
        of('g', '{}'),
      ]);
    });
  });

  it('keeps text that comes beside parts', () => {
    const part = { type: 'image', url: 'u' };
    const text = (of: string): object => ({ type: 'text', text: of });
    expect(assembledMessage({ content: 'a' }, { content: [part] }, { content: 'b' }, { content: '' })).toMatchObject({
      content: [text('a'), part, text('b')],
    });
    expect(assembledMessage({ content: '' }, { content: [part] })).toMatchObject({ content: [part] });
  });

  it('takes the first reason for which a choice ended', () => {
    const of = (finish_reason: string): unknown => ({ choices: [{ index: 0, delta: {}, finish_reason }] });
    expect(assemble(of(''), of('content_filter'), of('stop'))).toMatchObject({
      choices: [{ finish_reason: 'content_filter' }],
    });
  });

  it('joins reasoning, refusals and texts that it does not know', () => {
    const message = assembledMessage(
      { role: 'assistant', reasoning_content: 'a', reasoning: 'x', refusal: null, novel: '1' },
      { reasoning_content: 'b', reasoning: 'y', refusal: 'No', novel: '2' },
      { refusal: '.', reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'p' }] },
      { reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'q' }] },
    );
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'ab',
      reasoning: 'xy',
      refusal: 'No.',
      novel: '12',
      reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'pq' }],
    });
  });

  it('joins log probabilities', () => {
    const of = (token: string | null, finish_reason: string | null): unknown => ({
      choices: [
        {
          index: 0,
          delta: {},
          logprobs: token === null ? null : { content: [{ token }], refusal: null },
          finish_reason,
        },
      ],
    });
    const whole = assemble(of('a', null), of('b', null), of(null, 'stop')) as { choices: { logprobs: unknown }[] };
    expect(whole.choices[0]?.logprobs).toEqual({ content: [{ token: 'a' }, { token: 'b' }], refusal: null });
  });

  it('keeps numbers that a double cannot hold', () => {
    const event = '{"created":12345678901234567890,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
    expect(decoder.decode(assembleBody('chat.completions', recording(event)))).toContain('12345678901234567890');
  });

  it('joins a character that was cut in two', () => {
    const of = (content: string): string =>
      `{"choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":"stop"}]}`;
    const body = assembleBody('chat.completions', recording(of('\\ud83d'), of('\\ude00')));
    expect(decoder.decode(body)).toContain('"😀"');
  });

  it('makes one text completion of its chunks', () => {
    const of = (text: string, finish_reason: string | null): unknown => ({
      id: 'c',
      object: 'text_completion',
      choices: [{ index: 0, text, logprobs: { tokens: [text] }, finish_reason }],
    });
    const body = assembleBody('completions', recording(of('a', null), of('b', 'stop'), { choices: [], usage: USAGE }));
    expect(JSON.parse(decoder.decode(body))).toEqual({
      id: 'c',
      object: 'text_completion',
      choices: [{ index: 0, text: 'ab', logprobs: { tokens: ['a', 'b'] }, finish_reason: 'stop' }],
      usage: USAGE,
    });
  });

  it.each([
    ['an error', recording({ choices: [] }, { error: { message: 'x' } })],
    ['an object that is an error', recording({ object: 'error', message: 'x' })],
    ['half an index', recording({ choices: [{ index: 0.5, delta: {}, finish_reason: 'stop' }] })],
    ['nothing', recording()],
    ['no choice', recording({ choices: [] })],
    ['not JSON', recording('[DONE]')],
    ['a cut', recording({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }).subarray(0, -2)],
    ['wrong types', recording({ choices: [{ index: 'x', delta: 5 }] })],
  ])('is undefined for %s', (_name, of) => {
    expect(assembleBody('chat.completions', of)).toBeUndefined();
  });
});

const content = fc.string({
  minLength: 1,
  maxLength: 300,
  unit: fc.constantFrom('a', 'b', ' ', '\n', '😀', '"', '漢'),
});
const toolCall = fc.record({
  id: fc.string({ minLength: 1 }),
  type: fc.constant('function'),
  function: fc.record({ name: fc.string({ minLength: 1 }), arguments: fc.string() }),
});
const tokens = fc.array(fc.record({ token: fc.string(), logprob: fc.double({ min: -9, max: 0, noNaN: true }) }), {
  minLength: 1,
  maxLength: 3,
});

function chatBody(choiceFields: fc.Arbitrary<object>): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .record(
      {
        id: fc.constant('chatcmpl-1'),
        object: fc.constant('chat.completion'),
        created: fc.nat(),
        model: fc.constant('m'),
        choices: fc.array(choiceFields, { minLength: 1, maxLength: 3 }),
        usage: fc.constant(USAGE),
        service_tier: fc.constant('default'),
        system_fingerprint: fc.constant('fp_1'),
      },
      { requiredKeys: ['id', 'object', 'created', 'model', 'choices'] },
    )
    .map((body) => ({ ...body, choices: body.choices.map((choice, index) => ({ index, ...choice })) }));
}

const message = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.option(content),
    refusal: fc.option(fc.string({ minLength: 1 })),
    tool_calls: fc.array(toolCall, { minLength: 1, maxLength: 3 }),
    reasoning_content: fc.string({ minLength: 1 }),
    annotations: fc.constant([]),
    audio: fc.constant({ id: 'a', data: 'AA', transcript: 't', expires_at: 1 }),
  },
  { requiredKeys: ['role', 'content', 'refusal'] },
);

const chatBodies = chatBody(
  fc.record({
    message,
    logprobs: fc.option(fc.record({ content: tokens, refusal: fc.constant(null) })),
    finish_reason: fc.constantFrom('stop', 'length', 'tool_calls'),
  }),
);

describe('synthesizeStream', () => {
  it('is undone by assembleBody', () => {
    fc.assert(
      fc.property(chatBodies, (body) => {
        const stream = synthesizeStream('chat.completions', bytes(body));
        expect(JSON.parse(decoder.decode(assembleBody('chat.completions', stream)))).toEqual(
          JSON.parse(JSON.stringify(body)),
        );
      }),
    );
  });

  it('is undone by assembleBody for text completions', () => {
    const choice = fc.record(
      {
        index: fc.constant(0),
        text: fc.string({ maxLength: 200 }),
        logprobs: fc.option(fc.record({ tokens: fc.array(fc.string()) })),
        finish_reason: fc.constant('stop'),
      },
      { requiredKeys: ['index', 'text', 'finish_reason'] },
    );
    fc.assert(
      fc.property(choice, (only) => {
        const body = { id: 'c', object: 'text_completion', created: 1, model: 'm', choices: [only], usage: USAGE };
        const stream = synthesizeStream('completions', bytes(body));
        const back: unknown = JSON.parse(decoder.decode(assembleBody('completions', stream)));
        expect(back).toEqual(JSON.parse(JSON.stringify(body)));
      }),
    );
  });

  it('may be stored where the body may', () => {
    fc.assert(
      fc.property(chatBodies, (body) => {
        expect(isStorable('chat.completions', 'stream', synthesizeStream('chat.completions', bytes(body)))).toBe(true);
      }),
    );
  });

  it('sends a long text in pieces, none of which cuts a character', () => {
    const long = '😀'.repeat(4_000) + ' and words'.repeat(1_000);
    const choices = [{ index: 0, message: { role: 'assistant', content: long }, finish_reason: 'stop' }];
    const events = eventsOf(synthesizeStream('chat.completions', bytes({ id: 'c', choices })));
    expect(events.length).toBeGreaterThan(50);
    expect(events.length).toBeLessThan(600);
    expect(JSON.stringify(events)).not.toMatch(/\\ud[89a-f]/);
  });

  it('repeats identity in every chunk and ends with usage and no choice', () => {
    const body = {
      ...HEAD,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: USAGE,
      extra: { large: true },
    };
    const events = eventsOf(synthesizeStream('chat.completions', bytes(body)));
    expect(events.every(({ id, object, created }) => id === 'c1' && object === HEAD.object && created === 5)).toBe(
      true,
    );
    expect(events.filter((event) => 'extra' in event)).toEqual([events[0]]);
    expect(events.at(-1)).toEqual({ ...HEAD, choices: [], usage: USAGE });
  });

  it.each([['x'], ['{}'], ['{"choices":[5]}'], ['{"choices":[{"index":0}]}']])('refuses the body %s', (body) => {
    let thrown: unknown;
    try {
      synthesizeStream('chat.completions', bytes(body));
    } catch (error) {
      thrown = error;
    }
    expect(hasCode(thrown, 'model_invalid_answer')).toBe(true);
  });
});

describe('convertible', () => {
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  const body = (message: object): object => ({ choices: [{ index: 0, message, finish_reason: 'stop' }] });

  it('is true of every completion, and of its stream', () => {
    fc.assert(
      fc.property(chatBodies, (of) => {
        expect(convertible('chat.completions', 'body', bytes(of))).toBe(true);
        expect(convertible('chat.completions', 'stream', synthesizeStream('chat.completions', bytes(of)))).toBe(true);
      }),
    );
  });

  it.each([
    ['calls that are no objects', 'body', bytes(body({ tool_calls: [1] }))],
    ['a member that stands twice', 'body', bytes('{"id":1,"id":2,' + JSON.stringify(body({})).slice(1))],
    [
      'deep nesting',
      'body',
      bytes(JSON.stringify(body({})).replace('{', `{"x":${'['.repeat(600)}${']'.repeat(600)},`)),
    ],
    ['calls that are no objects', 'stream', recording({ choices: [{ index: 0, delta: { tool_calls: [1] } }] }, end)],
    ['a member that stands twice', 'stream', recording('{"id":1,"id":2}', end)],
    ['a delta that is no object', 'stream', recording({ choices: [{ index: 0, delta: 5 }] }, end)],
    ['an answer that never ended', 'stream', recording({ choices: [{ index: 0, delta: {} }] })],
  ] as const)('is false for %s in a %s', (_name, kind, payload) => {
    expect(convertible('chat.completions', kind, payload)).toBe(false);
  });

  it('is true of embeddings, which have one form', () => {
    expect(convertible('embeddings', 'body', bytes('{}'))).toBe(true);
  });
});

/** A client whose server answers every request with the given bytes. */
function clientOf(answer: string): OpenAI {
  const fetch = (): Promise<Response> =>
    Promise.resolve(new Response(answer, { headers: { 'content-type': 'text/event-stream' } }));
  return new OpenAI({ apiKey: 'none', baseURL: 'http://localhost/v1', fetch, maxRetries: 0 });
}

describe('the official client', () => {
  const clientBodies = chatBody(
    fc.record({
      message: message.map(({ audio: _audio, ...rest }) => rest),
      logprobs: fc.option(fc.record({ content: tokens, refusal: fc.constant(null) })),
      finish_reason: fc.constantFrom('stop', 'length', 'tool_calls'),
    }),
  );

  it('accumulates the body from the synthesized stream', async () => {
    await fc.assert(
      fc.asyncProperty(clientBodies, async (body) => {
        const events = decoder.decode(synthesizeStream('chat.completions', bytes(body)));
        const stream = clientOf(`${events}data: [DONE]\n\n`).chat.completions.stream({ model: 'm', messages: [] });
        const completion = JSON.parse(JSON.stringify(await stream.finalChatCompletion())) as unknown;
        expect(withoutParsed(completion)).toEqual(JSON.parse(JSON.stringify(body)));
      }),
      { numRuns: 60 },
    );
  });

  it('accumulates what assembleBody assembles', async () => {
    const of = (delta: object, finish_reason: string | null, rest: object = {}): object => ({
      ...HEAD,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...rest,
    });
    const events = [
      of({ role: 'assistant', content: null, refusal: null }, null),
      of({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }, null),
      of({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }, null),
      of({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }, null),
      of({}, 'tool_calls'),
      { ...HEAD, choices: [], usage: USAGE },
    ];
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    const stream = ChatCompletionStream.fromReadableStream(new Response(lines).body as ReadableStream);
    const completion = JSON.parse(JSON.stringify(await stream.finalChatCompletion())) as unknown;
    expect(withoutParsed(completion)).toEqual(assemble(...events));
  });
});

/** The client adds what it parsed; that is its own. */
function withoutParsed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member: unknown) => (name.startsWith('parsed') ? undefined : member)));
}

describe('usageEventRange', () => {
  const chunk = { choices: [{ index: 0, delta: { content: 'a []' } }] };

  it('is where the event with usage and no choice stands', () => {
    const before = recording(chunk, { ...chunk, usage: null });
    const usage = recording({ choices: [], usage: USAGE });
    const of = Uint8Array.from([...before, ...usage]);
    expect(usageEventRange(of)).toEqual({ start: before.length, end: before.length + usage.length });
  });

  it('sees through white space', () => {
    expect(usageEventRange(recording('{ "choices" : [ ] , "usage" : { } }'))).toBeDefined();
  });

  it.each([
    ['no usage', recording(chunk)],
    ['usage null', recording({ choices: [], usage: null })],
    ['usage beside a choice', recording({ ...chunk, usage: USAGE })],
    ['no choices', recording({ prompt_filter_results: [], usage: USAGE })],
    ['nothing', recording()],
  ])('is undefined with %s', (_name, of) => {
    expect(usageEventRange(of)).toBeUndefined();
  });
});
