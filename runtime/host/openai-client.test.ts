import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerWith, startScriptedUpstream, type ScriptedAnswer } from './testing/scripted-upstream.ts';
import type { ScriptedUpstream, UpstreamCallSeen } from './testing/scripted-upstream.ts';
import { answerEvents, wholeAnswer } from './testing/scripted-upstream.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';

type ChatRequest = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;

const TOOL: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

interface Shape {
  readonly name: string;
  readonly request: Partial<ChatRequest>;
  readonly answer: ScriptedAnswer;
}

const SHAPES: readonly Shape[] = [
  {
    name: 'a text',
    request: {},
    answer: { choices: [{ content: 'Twelve “moons” — und Straße 🚀 go.' }], promptTokens: 5, completionTokens: 9 },
  },
  {
    name: 'tools',
    request: { tools: [TOOL], tool_choice: 'auto', parallel_tool_calls: true },
    answer: {
      choices: [
        {
          toolCalls: [
            { id: 'call_a', name: 'get_weather', arguments: '{"city":"Paris"}' },
            { id: 'call_b', name: 'get_weather', arguments: '{"city":"Rome, \\"IT\\""}' },
          ],
        },
      ],
      promptTokens: 50,
      completionTokens: 21,
    },
  },
  {
    name: 'three choices',
    request: { n: 3 },
    answer: {
      choices: [
        { content: 'One short.' },
        { content: 'Two, a good deal longer than the first.', finishReason: 'length' },
        { content: 'Three.' },
      ],
      promptTokens: 4,
      completionTokens: 17,
    },
  },
  {
    name: 'reasoning fields',
    request: { reasoning_effort: 'high' },
    answer: {
      choices: [{ reasoning: 'Let me think of it. Twice.', content: 'Yes.' }],
      promptTokens: 4,
      completionTokens: 17,
    },
  },
  {
    name: 'log probabilities',
    request: { logprobs: true },
    answer: { choices: [{ content: 'Well known words.', logprobs: true }], promptTokens: 4, completionTokens: 3 },
  },
];

let upstream: ScriptedUpstream;
let server: TestServer;
let client: OpenAI;
let asked = 0;

beforeAll(async () => {
  upstream = await startScriptedUpstream(answerWith({ choices: [], promptTokens: 0, completionTokens: 0 }));
  server = await startTestServer({ upstreams: { test: { url: upstream.url } } });
  client = server.client();
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

let question: OpenAI.ChatCompletionMessageParam[];
beforeEach(() => {
  asked += 1;
  question = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: `Question ${asked}?` },
  ];
});

function chat(shape: Shape): ChatRequest {
  upstream.answer = answerWith(shape.answer);
  return { model: 'gpt-test', messages: question, ...shape.request };
}

async function whole(request: ChatRequest): Promise<{ answer: OpenAI.ChatCompletion; cache: string }> {
  const { data, response } = await client.chat.completions.create({ ...request, stream: false }).withResponse();
  await server.settled();
  return { answer: data, cache: response.headers.get('cache-status') ?? '' };
}

async function streamed(
  request: ChatRequest,
  includeUsage: boolean,
): Promise<{ chunks: OpenAI.ChatCompletionChunk[]; cache: string }> {
  const { data, response } = await client.chat.completions
    .create({ ...request, stream: true, ...(includeUsage ? { stream_options: { include_usage: true } } : {}) })
    .withResponse();
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of data) chunks.push(chunk);
  await server.settled();
  return { chunks, cache: response.headers.get('cache-status') ?? '' };
}

/** What the official client makes of a stream. */
async function assembled(request: ChatRequest): Promise<OpenAI.ChatCompletion> {
  return client.chat.completions
    .stream({ ...request, stream: true, stream_options: { include_usage: true } })
    .finalChatCompletion();
}

function lastCall(): UpstreamCallSeen {
  const call = upstream.calls.at(-1);
  if (call === undefined) throw new Error('the upstream was not called');
  return call;
}

describe.each(SHAPES)('the official npm client, $name', (shape) => {
  it('gets equal objects on miss and hit, those of the upstream', async () => {
    const request = chat(shape);
    const miss = await whole(request);
    const calls = upstream.calls.length;
    const hit = await whole(request);
    expect(miss.cache).toContain('fwd=miss; stored');
    expect(hit.cache).toMatch(/hit; ttl=\d+; detail=exact-l1/);
    expect(hit.answer).toEqual(miss.answer);
    expect(miss.answer).toMatchObject(wholeAnswer(lastCall(), shape.answer));
    expect(upstream.calls.length).toBe(calls);
  });

  it.each([true, false])('gets the same events on miss and hit, include_usage %s', async (includeUsage) => {
    const request = chat(shape);
    const miss = await streamed(request, includeUsage);
    const calls = upstream.calls.length;
    const hit = await streamed(request, includeUsage);
    expect(miss.cache).toContain('fwd=miss; stored');
    expect(hit.cache).toContain('hit');
    expect(hit.chunks).toEqual(miss.chunks);
    expect(upstream.calls.length).toBe(calls);
    const sent = answerEvents(lastCall(), shape.answer);
    expect(miss.chunks).toEqual(includeUsage ? sent : sent.slice(0, -1));
  });

  it('gets usage from a stream entry only when it asks for it', async () => {
    const request = chat(shape);
    const withoutUsage = await streamed(request, false);
    const withUsage = await streamed(request, true);
    const again = await streamed(request, false);
    expect(withUsage.cache).toContain('hit');
    expect(withUsage.chunks.slice(0, -1)).toEqual(withoutUsage.chunks);
    expect(withUsage.chunks.at(-1)?.usage?.completion_tokens).toBe(shape.answer.completionTokens);
    expect(again.chunks).toEqual(withoutUsage.chunks);
  });

  it('gets a whole answer from a stream entry, as the upstream would have given it', async () => {
    const request = chat(shape);
    await streamed(request, false);
    const calls = upstream.calls.length;
    const hit = await whole(request);
    expect(hit.cache).toContain('hit');
    expect(upstream.calls.length).toBe(calls);
    expect(hit.answer).toEqual(wholeAnswer(lastCall(), shape.answer));
  });

  it('gets a valid stream from a whole entry', async () => {
    const request = chat(shape);
    const miss = await whole(request);
    const calls = upstream.calls.length;
    const fromStream = await assembled(request);
    const chunks = await streamed(request, false);
    expect(upstream.calls.length).toBe(calls);
    expect(withoutParsed(fromStream)).toEqual(miss.answer);
    expect(chunks.chunks.every((chunk) => chunk.object === 'chat.completion.chunk')).toBe(true);
    expect(chunks.chunks.every((chunk) => (chunk.usage ?? null) === null)).toBe(true);
  });
});

describe('completions through the official npm client', () => {
  it('are equal on miss and hit, whole and streamed', async () => {
    const answer: ScriptedAnswer = {
      choices: [{ content: 'Once upon a time.', logprobs: true }, { content: 'There was a king.' }],
      promptTokens: 3,
      completionTokens: 8,
    };
    upstream.answer = answerWith(answer);
    const request = { model: 'instruct', prompt: `Tell ${asked}`, n: 2, logprobs: 1 };
    const miss = await client.completions.create(request);
    await server.settled();
    const calls = upstream.calls.length;
    const hit = await client.completions.create(request);
    expect(hit).toEqual(miss);
    const chunks = [];
    for await (const chunk of await client.completions.create({ ...request, stream: true })) chunks.push(chunk);
    expect(upstream.calls.length).toBe(calls);
    for (const [index, choice] of miss.choices.entries()) {
      const own = chunks.flatMap((chunk) => chunk.choices.filter((piece) => piece.index === index));
      expect(own.map((piece) => piece.text).join('')).toBe(choice.text);
      expect(own.at(-1)?.finish_reason).toBe('stop');
    }
  });

  it('give a whole answer from a stream entry', async () => {
    const answer = { choices: [{ content: 'Once upon a time.' }], promptTokens: 3, completionTokens: 8 };
    upstream.answer = answerWith(answer);
    const request = { model: 'instruct', prompt: `Tell ${asked} again` };
    for await (const _chunk of await client.completions.create({ ...request, stream: true }));
    await server.settled();
    const hit = await client.completions.create(request);
    expect(hit).toEqual(wholeAnswer(lastCall(), answer));
  });
});

describe('a stream over the wire', () => {
  it('is byte for byte the same on miss and hit, with one [DONE] at its end', async () => {
    const request = { ...chat(SHAPES[0]!), stream: true };
    const miss = await server.post('/v1/chat/completions', request);
    await server.settled();
    const hit = await server.post('/v1/chat/completions', request);
    expect(hit.cache).toContain('hit');
    expect(hit.text).toBe(miss.text);
    expect(miss.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(miss.text.split('[DONE]')).toHaveLength(2);
    expect(hit.headers.get('content-type')).toBe(miss.headers.get('content-type'));
  });

  it('asks the upstream for usage even when the client did not', async () => {
    await server.post('/v1/chat/completions', { ...chat(SHAPES[0]!), stream: true });
    expect(lastCall().body['stream_options']).toEqual({ include_usage: true });
  });

  it('keeps a whole body byte for byte', async () => {
    const request = chat(SHAPES[1]!);
    const miss = await server.post('/v1/chat/completions', request);
    await server.settled();
    const hit = await server.post('/v1/chat/completions', request);
    expect(hit.text).toBe(miss.text);
  });
});

/** The client's stream helper adds `parsed` members of its own. */
function withoutParsed(answer: OpenAI.ChatCompletion): unknown {
  return JSON.parse(JSON.stringify(answer, (name, value: unknown) => (name === 'parsed' ? undefined : value)));
}
