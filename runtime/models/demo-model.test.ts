import { describe, expect, it } from 'vitest';
import type { ModelCallOptions, Operation } from '../ports/model.ts';
import { DemoModel } from './demo-model.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { collect } from './testing/test-upstream.ts';

const ENCODER = new TextEncoder();

interface Choice {
  readonly index: number;
  readonly finish_reason: string;
  readonly text: string;
  readonly message: {
    readonly content: string | null;
    readonly reasoning_content?: string;
    readonly tool_calls?: {
      readonly id: string;
      readonly function: { readonly name: string; readonly arguments: string };
    }[];
  };
}

interface Completion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly choices: Choice[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

interface Chunk {
  readonly id: string;
  readonly choices: {
    readonly index: number;
    readonly finish_reason: string | null;
    readonly text?: string;
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: { readonly function: { readonly name?: string; readonly arguments: string } }[];
    };
  }[];
  readonly usage?: Completion['usage'] | null;
}

function setUp(firstTokenMs = 0, perTokenMs = 0) {
  const clock = new ManualClock();
  const model = new DemoModel({ clock }, { firstTokenMs, perTokenMs, models: ['demo'] });
  return { clock, model };
}

function asked(body: object, operation: Operation = 'chat.completions') {
  return { operation, model: 'demo', body: ENCODER.encode(JSON.stringify(body)) };
}

function chat(text: string, fields: object = {}) {
  return asked({ messages: [{ role: 'user', content: text }], ...fields });
}

const OPTIONS: ModelCallOptions = { signal: new AbortController().signal, deadlineAtMs: Infinity };

async function answerTo(request: ReturnType<typeof asked>, model = setUp().model): Promise<Completion> {
  const reply = await model.call(request, OPTIONS);
  return JSON.parse(new TextDecoder().decode(reply.body)) as Completion;
}

async function chunksOf(request: ReturnType<typeof asked>, model = setUp().model): Promise<Chunk[]> {
  const stream = await model.stream(request, OPTIONS);
  if (stream.kind !== 'events') throw new Error('no stream');
  return (await collect(stream.events)).map((text) => JSON.parse(text) as Chunk);
}

const WEATHER_TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['celsius', 'kelvin'] },
        days: { type: 'integer', minimum: 1 },
      },
      required: ['city', 'unit', 'days'],
    },
  },
};

describe('DemoModel answers', () => {
  it('from the prompt, with usage', async () => {
    const { model, clock } = setUp();
    const answer = await answerTo(chat('How do I reset my password?'), model);
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'demo',
      created: Math.floor(clock.wallMs() / 1_000),
      choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant' } }],
      usage: { prompt_tokens: 6 },
    });
    expect(answer.choices[0]?.message.content).toContain('How do I reset my password?');
    expect(answer.usage.total_tokens).toBe(6 + answer.usage.completion_tokens);
  });

  it('the same text to the same question, under another id', async () => {
    const { model } = setUp();
    const first = await answerTo(chat('Why is the sky blue?'), model);
    const second = await answerTo(chat('Why  is the\nsky blue? '), model);
    expect(second.choices[0]?.message.content).toBe(first.choices[0]?.message.content);
    expect(second.id).not.toBe(first.id);
    expect((await answerTo(chat('Why is the sky blue?'), model)).id).not.toBe(first.id);
    expect(model.calls).toBe(3);
  });

  it('differently to different questions', async () => {
    const texts = await Promise.all(
      ['turn it on', 'turn it off', 'Is it on?', '', 'hi'].map(async (text) => {
        const answer = await answerTo(chat(text));
        return answer.choices[0]?.message.content;
      }),
    );
    expect(new Set(texts).size).toBe(5);
  });

  it('the last user message, whatever its parts', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'x' } },
    ];
    const messages = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content },
    ];
    const answer = await answerTo(asked({ messages }));
    expect(answer.choices[0]?.message.content).toMatch(/What is this\?.*2 earlier messages/);
  });

  it.each([
    ['What is 12 + 30?', '12 + 30 = 42.'],
    ['what is 7*6', '7*6 = 42.'],
    ['0.1 + 0.2', '0.1 + 0.2 = 0.3.'],
  ])('%s with %s', async (question, result) => {
    expect((await answerTo(chat(question))).choices[0]?.message.content).toContain(result);
  });

  it('a division by zero without a number', async () => {
    expect((await answerTo(chat('What is 1 / 0?'))).choices[0]?.message.content).not.toContain('Infinity');
  });

  it('with n different choices', async () => {
    const answer = await answerTo(chat('Hello', { n: 3 }));
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    expect(new Set(answer.choices.map((choice) => choice.message.content)).size).toBe(3);
  });

  it.each(['max_tokens', 'max_completion_tokens'])('cut at %s', async (name) => {
    const answer = await answerTo(chat('Hello', { [name]: 3 }));
    expect(answer.choices[0]?.finish_reason).toBe('length');
    expect(answer.usage.completion_tokens).toBe(3);
  });

  it('cut before a stop sequence', async () => {
    const answer = await answerTo(chat('Hello', { stop: ['You wrote'] }));
    expect(answer.choices[0]?.message.content?.trim()).toBe('Hello!');
    expect(answer.choices[0]?.finish_reason).toBe('stop');
  });

  it('with its reasoning where an effort is asked for', async () => {
    const answer = await answerTo(chat('Hello', { reasoning_effort: 'low' }));
    expect(answer.choices[0]?.message.reasoning_content).toContain('Hello');
    expect(answer.usage).toMatchObject({
      completion_tokens_details: { reasoning_tokens: expect.any(Number) as number },
    });
  });

  it('a very long prompt by its beginning, whole characters only', async () => {
    const answer = await answerTo(chat(`${'x'.repeat(299)}${'😀'.repeat(50_000)}`));
    expect(answer.choices[0]?.message.content).toContain(`${'x'.repeat(299)}…`);
  });

  it('completions, one for each prompt', async () => {
    const answer = await answerTo(asked({ prompt: ['What is it?', 'Who is it?'], n: 2 }, 'completions'));
    expect(answer.object).toBe('text_completion');
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2, 3]);
    expect(answer.choices[2]?.text).toContain('Who is it?');
  });
});

describe('DemoModel and tools', () => {
  it.each([{}, { tool_choice: 'required' }, { tool_choice: { type: 'function', function: { name: 'get_weather' } } }])(
    'calls the tool that the prompt means (%o)',
    async (choice) => {
      const answer = await answerTo(
        chat("What's the weather in New York for 3 days?", { tools: [WEATHER_TOOL], ...choice }),
      );
      const call = answer.choices[0]?.message.tool_calls?.[0];
      expect(answer.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
      expect(call?.function.name).toBe('get_weather');
      expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ city: 'New York', unit: 'celsius', days: 3 });
    },
  );

  it.each([
    ['Tell me a joke', {}],
    ['What is the weather?', { tool_choice: 'none' }],
  ])('answers "%s" in text (%o)', async (text, choice) => {
    const answer = await answerTo(chat(text, { tools: [WEATHER_TOOL], ...choice }));
    expect(answer.choices[0]?.message.tool_calls).toBeUndefined();
  });

  it('answers from the result that a tool gave', async () => {
    const messages = [
      { role: 'user', content: 'What is the weather?' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', content: 'sunny, 21 degrees' },
    ];
    const answer = await answerTo(asked({ messages, tools: [WEATHER_TOOL] }));
    expect(answer.choices[0]?.message.content).toContain('sunny, 21 degrees');
  });
});

describe('DemoModel and response formats', () => {
  it('gives a JSON object', async () => {
    const answer = await answerTo(chat('What is it?', { response_format: { type: 'json_object' } }));
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ answer: expect.any(String) as string });
  });

  it('gives a value of the schema', async () => {
    const schema = {
      type: 'object',
      properties: { steps: { type: 'array', items: { $ref: '#/$defs/step' } }, sure: { type: 'boolean' } },
      required: ['steps', 'sure'],
      $defs: { step: { type: 'object', properties: { text: { type: ['string', 'null'] } }, required: ['text'] } },
    };
    const format = { type: 'json_schema', json_schema: { name: 'steps', strict: true, schema } };
    const answer = await answerTo(chat('How does it work?', { response_format: format }));
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({
      steps: [{ text: expect.any(String) as string }],
      sure: true,
    });
  });
});

describe('DemoModel streams', () => {
  it.each([{}, { n: 2 }, { reasoning_effort: 'high' }, { max_tokens: 4 }])(
    'what a whole answer says (%o)',
    async (fields) => {
      const request = chat('How do I reset my password?', fields);
      const whole = await answerTo(request);
      const chunks = await chunksOf(request);
      for (const choice of whole.choices) {
        const mine = chunks.flatMap((chunk) => chunk.choices).filter((part) => part.index === choice.index);
        expect(mine[0]?.delta.role).toBe('assistant');
        expect(mine.map((part) => part.delta.content ?? '').join('')).toBe(choice.message.content);
        expect(mine.map((part) => part.delta.reasoning_content ?? '').join('')).toBe(
          choice.message.reasoning_content ?? '',
        );
        expect(mine.at(-1)?.finish_reason).toBe(choice.finish_reason);
      }
      expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    },
  );

  it('usage in a last chunk when asked for', async () => {
    const request = chat('Hello', { stream_options: { include_usage: true } });
    const chunks = await chunksOf(request);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: (await answerTo(request)).usage });
    expect(chunks[0]?.usage).toBeNull();
  });

  it('no usage when not asked for', async () => {
    const chunks = await chunksOf(chat('Hello'));
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('a tool call in pieces', async () => {
    const request = chat('weather in Paris', { tools: [WEATHER_TOOL] });
    const whole = await answerTo(request);
    const calls = (await chunksOf(request)).flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls[0]?.function.name).toBe('get_weather');
    expect(calls.map((call) => call.function.arguments).join('')).toBe(
      whole.choices[0]?.message.tool_calls?.[0]?.function.arguments,
    );
  });

  it('completions', async () => {
    const request = asked({ prompt: 'What is it?' }, 'completions');
    const chunks = await chunksOf(request);
    const text = chunks.map((chunk) => chunk.choices[0]?.text).join('');
    expect(text).toBe((await answerTo(request)).choices[0]?.text);
  });
});

describe('DemoModel in time', () => {
  it('takes its declared latency', async () => {
    const { model, clock } = setUp(100, 10);
    let done = false;
    const pending = answerTo(chat('Hello', { max_tokens: 3 }), model).then(() => (done = true));
    await clock.timersPending(1);
    clock.advance(129);
    await Promise.resolve();
    expect(done).toBe(false);
    clock.advance(1);
    await pending;
  });

  it('streams a token at a time', async () => {
    const { model, clock } = setUp(100, 10);
    const opening = model.stream(chat('Hello'), OPTIONS);
    await clock.timersPending(1);
    clock.advance(100);
    const stream = await opening;
    if (stream.kind !== 'events') throw new Error('no stream');
    const events = stream.events[Symbol.asyncIterator]();
    await events.next();
    const second = events.next();
    await clock.timersPending(1);
    clock.advance(10);
    expect(await second).toMatchObject({ done: false });
  });

  it('stops at once when cancelled', async () => {
    const { model, clock } = setUp(100, 10);
    const controller = new AbortController();
    const pending = model.call(chat('Hello'), { signal: controller.signal, deadlineAtMs: Infinity });
    await clock.timersPending(1);
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    expect(clock.timers).toBe(0);
  });

  it('fails at its deadline', async () => {
    const { model, clock } = setUp(100, 10);
    const pending = model.call(chat('Hello'), { ...OPTIONS, deadlineAtMs: clock.monotonicMs() + 50 });
    const outcome = expect(pending).rejects.toMatchObject({ code: 'model_timeout' });
    await clock.timersPending(1);
    clock.advance(50);
    await outcome;
  });
});

describe('DemoModel refuses', () => {
  it.each([
    [{ messages: [] }, 'messages'],
    [{}, 'messages'],
    [{ messages: [{ role: 'user', content: 'x' }], n: 0 }, 'n'],
    [{ messages: [{ role: 'user', content: 'x' }], max_tokens: -1 }, 'max_tokens'],
  ])('%o in OpenAI’s shape', async (body, param) => {
    const error = await setUp()
      .model.call(asked(body), OPTIONS)
      .catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'model_error', status: 400, param });
    const said = JSON.parse(new TextDecoder().decode((error as { body: Uint8Array }).body)) as unknown;
    expect(said).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });

  it('embeddings', async () => {
    const pending = setUp().model.call(asked({ input: 'x' }, 'embeddings'), OPTIONS);
    await expect(pending).rejects.toMatchObject({ code: 'model_error', status: 404 });
  });
});
