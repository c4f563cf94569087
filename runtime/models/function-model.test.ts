import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../ports/model.ts';
import { FunctionModel } from './function-model.ts';
import type { ModelFunction } from './function-model.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { collect, signalled } from './testing/test-upstream.ts';

const REQUEST: ModelRequest = {
  operation: 'chat.completions',
  model: 'mine',
  body: new TextEncoder().encode('{"model":"mine","messages":[]}'),
};

function setUp(run: ModelFunction) {
  const clock = new ManualClock();
  const model = new FunctionModel({ clock }, run, { name: 'mine', models: ['mine'] });
  const options = (signal = new AbortController().signal) => ({ signal, deadlineAtMs: clock.monotonicMs() + 1_000 });
  return { clock, model, options };
}

async function* chunks(...values: object[]): AsyncGenerator<object> {
  yield* values;
}

function parsed(body: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(body));
}

describe('FunctionModel', () => {
  it('hands the request over and gives the object back', async () => {
    const seen: unknown[] = [];
    const { model, options } = setUp(async (request, _, context) => {
      seen.push(request, context);
      return { choices: [] };
    });
    expect(parsed((await model.call(REQUEST, options())).body)).toEqual({ choices: [] });
    expect(seen).toEqual([
      { model: 'mine', messages: [] },
      { operation: 'chat.completions', model: 'mine' },
    ]);
  });

  it.each([
    ['chat.completions', { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: 'hi' } }] }],
    ['completions', { object: 'text_completion', choices: [{ text: 'hi' }] }],
  ] as const)('makes a %s answer of a text', async (operation, shape) => {
    const { model, options } = setUp(async () => 'hi');
    const reply = await model.call({ ...REQUEST, operation }, options());
    expect(parsed(reply.body)).toMatchObject({ model: 'mine', ...shape });
  });

  it('streams the chunks of a stream', async () => {
    const { model, options } = setUp(() => chunks({ a: 1 }, { b: 2 }));
    const stream = await model.stream(REQUEST, options());
    if (stream.kind !== 'events') throw new Error('no stream');
    expect(await collect(stream.events)).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('takes a promise of a stream', async () => {
    const { model, options } = setUp(async () => chunks({ a: 1 }));
    expect((await model.stream(REQUEST, options())).kind).toBe('events');
  });

  it('gives a whole answer as a reply to a stream request', async () => {
    const { model, options } = setUp(async () => 'hi');
    expect((await model.stream(REQUEST, options())).kind).toBe('reply');
  });

  it('refuses a stream where none was asked for', async () => {
    const { model, options } = setUp(() => chunks({ a: 1 }));
    await expect(model.call(REQUEST, options())).rejects.toMatchObject({ code: 'model_invalid_answer' });
  });

  it.each([[undefined], [7], [{ big: 1n }], [{ toJSON: () => undefined }]])('refuses the answer %s', async (answer) => {
    const { model, options } = setUp(async () => answer as object);
    await expect(model.call(REQUEST, options())).rejects.toMatchObject({ code: 'model_invalid_answer' });
  });

  it('passes on a status and error object that the function throws', async () => {
    const { model, options } = setUp(async () => {
      throw Object.assign(new Error('no'), { status: 429, error: { message: 'slow down', code: 'limit' } });
    });
    const error = await model.call(REQUEST, options()).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'model_error', status: 429 });
    expect(parsed((error as { body: Uint8Array }).body)).toEqual({ error: { message: 'slow down', code: 'limit' } });
  });

  it('hides what another failure says from the caller', async () => {
    const { model, options } = setUp(() => {
      throw new Error('secret');
    });
    await expect(model.call(REQUEST, options())).rejects.toMatchObject({
      code: 'model_error',
      status: undefined,
      body: undefined,
      message: expect.not.stringContaining('secret') as string,
    });
  });

  it('does not wait for a function that ignores its deadline', async () => {
    const { model, options, clock } = setUp(() => new Promise(() => {}));
    const pending = expect(model.call(REQUEST, options())).rejects.toMatchObject({ code: 'model_timeout' });
    await clock.timersPending(1);
    clock.advance(1_000);
    await pending;
  });

  it('tells the function that it was cancelled', async () => {
    const told = signalled();
    const { model, options } = setUp((_, signal) => {
      signal.addEventListener('abort', () => told.resolve());
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const pending = model.call(REQUEST, options(controller.signal));
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    await told.promise;
  });

  it('closes a stream that its reader leaves', async () => {
    const closed = signalled();
    const { model, options, clock } = setUp(async function* () {
      try {
        yield { a: 1 };
        yield { b: 2 };
      } finally {
        closed.resolve();
      }
    });
    const stream = await model.stream(REQUEST, options());
    if (stream.kind !== 'events') throw new Error('no stream');
    for await (const event of stream.events) {
      expect(event.length).toBeGreaterThan(0);
      break;
    }
    await closed.promise;
    expect(clock.timers).toBe(0);
  });

  it('ends a silent stream at the deadline', async () => {
    const { model, options, clock } = setUp(async function* () {
      yield { a: 1 };
      await new Promise(() => {});
    });
    const stream = await model.stream(REQUEST, options());
    if (stream.kind !== 'events') throw new Error('no stream');
    const events = stream.events[Symbol.asyncIterator]();
    await events.next();
    const pending = expect(events.next()).rejects.toMatchObject({ code: 'model_timeout' });
    clock.advance(1_000);
    await pending;
  });

  it('fails a stream whose function throws', async () => {
    const { model, options } = setUp(async function* () {
      yield { a: 1 };
      throw Object.assign(new Error('gone'), { status: 500 });
    });
    const stream = await model.stream(REQUEST, options());
    if (stream.kind !== 'events') throw new Error('no stream');
    await expect(collect(stream.events)).rejects.toMatchObject({ code: 'model_error', status: 500 });
  });
});
