import { afterEach, describe, expect, it } from 'vitest';
import type { ModelRequest, ModelStream } from '../ports/model.ts';
import type { OpenAiHttpModel, OpenAiHttpOptions } from './openai-http.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { collect, modelOf, respondJson, signalled, startEvents, startUpstream } from './testing/test-upstream.ts';
import type { Answer } from './testing/test-upstream.ts';

const REQUEST: ModelRequest = {
  operation: 'chat.completions',
  model: 'm',
  body: new TextEncoder().encode('{"model":"m","stream":true}'),
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function setUp(answer: Answer, options: Partial<OpenAiHttpOptions> = {}) {
  const upstream = await startUpstream(answer);
  const clock = new ManualClock();
  const model = modelOf(upstream.url, clock, options);
  closers.push(() => model.close(), upstream.close);
  const stream = (signal = new AbortController().signal) =>
    model.stream(REQUEST, { signal, deadlineAtMs: clock.monotonicMs() + 1_000 });
  return { upstream, clock, model, stream };
}

function eventsOf(stream: ModelStream): AsyncIterable<Uint8Array> {
  if (stream.kind !== 'events') throw new Error('the upstream gave no stream');
  return stream.events;
}

function sends(...texts: string[]): Answer {
  return async (_, response) => {
    startEvents(response);
    for (const text of texts) {
      response.write(text);
      await new Promise(setImmediate);
    }
    response.end();
  };
}

/** What was yielded before the stream failed, and the failure. */
async function failing(events: AsyncIterable<Uint8Array>): Promise<{ texts: string[]; error: unknown }> {
  const texts: string[] = [];
  try {
    for await (const event of events) texts.push(Buffer.from(event).toString());
  } catch (error) {
    return { texts, error };
  }
  throw new Error('the stream ended well');
}

describe('OpenAiHttpModel.stream', () => {
  it('yields each event and ends at [DONE]', async () => {
    const { stream, upstream } = await setUp(
      sends('data: {"a":1}\n\n', ': ping\n\ndata: {"b":', '2}\n\ndata: [DONE]\n\n'),
    );
    expect(await collect(eventsOf(await stream()))).toEqual(['{"a":1}', '{"b":2}']);
    expect(upstream.seen[0]?.headers.accept).toBe('text/event-stream');
  });

  it('ends at a [DONE] that the end of the connection cuts short', async () => {
    const { stream } = await setUp(sends('data: {"a":1}\n\ndata: [DONE]'));
    expect(await collect(eventsOf(await stream()))).toEqual(['{"a":1}']);
  });

  it('uses the connection and the slot of a whole stream again', async () => {
    const { stream, upstream } = await setUp(sends('data: {"a":1}\n\ndata: [DONE]\n\n'), { concurrencyMax: 1 });
    for (let round = 0; round < 3; round += 1) await collect(eventsOf(await stream()));
    expect(upstream.seen.map((seen) => seen.connection)).toEqual([1, 1, 1]);
  });

  it('closes the connection of an upstream that lingers after [DONE]', async () => {
    const closed = signalled();
    const { stream, clock } = await setUp((_, response) => {
      response.on('close', closed.resolve);
      startEvents(response);
      response.write('data: [DONE]\n\n');
    });
    await collect(eventsOf(await stream()));
    clock.advance(1_000);
    await closed.promise;
  });

  it('puts an event of several lines on one', async () => {
    const { stream } = await setUp(sends('data: {"a":\ndata: 1}\n\ndata: [DONE]\n\n'));
    expect(await collect(eventsOf(await stream()))).toEqual(['{"a": 1}']);
  });

  it('yields an event far larger than a network chunk', async () => {
    const event = JSON.stringify({ text: 'x'.repeat(1_000_000) });
    const { stream } = await setUp(sends(`data: ${event}\n\ndata: [DONE]\n\n`));
    expect(await collect(eventsOf(await stream()))).toEqual([event]);
  });

  it('refuses an event above the bound', async () => {
    const { stream } = await setUp(sends(`data: "${'x'.repeat(5_000)}"\n\n`), { eventBytesMax: 1_000 });
    const { texts, error } = await failing(eventsOf(await stream()));
    expect(texts).toEqual([]);
    expect(error).toMatchObject({ code: 'model_invalid_answer' });
  });

  it.each(['', 'data: {"b"', 'data: {"b":2}\n'])('fails a stream that ends early with "%s"', async (rest) => {
    const { stream } = await setUp(sends('data: {"a":1}\n\n', rest));
    const { texts, error } = await failing(eventsOf(await stream()));
    expect(texts).toEqual(['{"a":1}']);
    expect(error).toMatchObject({ code: 'model_stream_truncated' });
  });

  it('fails a stream whose connection breaks', async () => {
    const { stream } = await setUp((_, response) => {
      startEvents(response);
      response.write('data: {"a":1}\n\n', () => response.socket?.resetAndDestroy());
    });
    const { error } = await failing(eventsOf(await stream()));
    expect(error).toMatchObject({ code: 'model_stream_truncated' });
  });

  it.each(['data: {"error":{"message":"overloaded"}}\n\n', 'event: error\ndata: {"message":"overloaded"}\n\n'])(
    'yields an error event and then fails: %s',
    async (event) => {
      const { stream } = await setUp(sends('data: {"a":1}\n\n', event, 'data: [DONE]\n\n'));
      const { texts, error } = await failing(eventsOf(await stream()));
      expect(texts).toHaveLength(2);
      expect(texts[1]).toContain('overloaded');
      expect(error).toMatchObject({ code: 'model_error', status: undefined });
      expect(Buffer.from((error as { body: Uint8Array }).body).toString()).toBe(texts[1]);
    },
  );

  it('takes an event whose error is null for a good one', async () => {
    const { stream } = await setUp(sends('data: {"error":null}\n\ndata: [DONE]\n\n'));
    expect(await collect(eventsOf(await stream()))).toEqual(['{"error":null}']);
  });

  it('fails at an event that is not JSON, and yields none of it', async () => {
    const { stream } = await setUp(sends('data: {"a":1}\n\ndata: oops\n\ndata: [DONE]\n\n'));
    const { texts, error } = await failing(eventsOf(await stream()));
    expect(texts).toEqual(['{"a":1}']);
    expect(error).toMatchObject({ code: 'model_invalid_answer' });
  });

  it('gives a whole answer as a reply', async () => {
    const { stream } = await setUp((_, response) => respondJson(response, { choices: [] }));
    const answer = await stream();
    expect(answer).toMatchObject({ kind: 'reply', reply: { status: 200, contentType: 'application/json' } });
  });

  it('passes on a refusal before the stream', async () => {
    const { stream } = await setUp((_, response) => respondJson(response, { error: {} }, 429, { 'retry-after': '1' }));
    await expect(stream()).rejects.toMatchObject({ code: 'model_error', status: 429, retryAfterMs: 1_000 });
  });

  it('ends at the deadline in mid-stream', async () => {
    const { stream, clock } = await setUp((_, response) => {
      startEvents(response);
      response.write('data: {"a":1}\n\n');
    });
    const events = eventsOf(await stream())[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ done: false });
    const pending = expect(events.next()).rejects.toMatchObject({ code: 'model_timeout' });
    clock.advance(1_000);
    await pending;
  });
});

describe('OpenAiHttpModel.stream when it is left', () => {
  /** An upstream that sends one event and then nothing, and tells when its connection closes. */
  function silentAfterOne() {
    const closed = signalled();
    const answer: Answer = (_, response) => {
      response.on('close', closed.resolve);
      startEvents(response);
      response.write('data: {"a":1}\n\n');
    };
    return { closed: closed.promise, answer };
  }

  async function slotIsFree(model: OpenAiHttpModel): Promise<void> {
    const controller = new AbortController();
    const again = await model.stream(REQUEST, { signal: controller.signal, deadlineAtMs: Infinity });
    expect(again.kind).toBe('events');
    controller.abort();
  }

  it('closes the connection when the reader stops', async () => {
    const { answer, closed } = silentAfterOne();
    const { stream, model } = await setUp(answer, { concurrencyMax: 1 });
    for await (const event of eventsOf(await stream())) {
      expect(event.length).toBeGreaterThan(0);
      break;
    }
    await closed;
    await slotIsFree(model);
  });

  it('closes the connection when the reader leaves while it waits', async () => {
    const { answer, closed } = silentAfterOne();
    const { stream } = await setUp(answer);
    const events = eventsOf(await stream())[Symbol.asyncIterator]();
    await events.next();
    const pending = events.next().catch(() => 'failed');
    await events.return?.();
    await pending;
    await closed;
  });

  it('closes the connection when nobody ever reads', async () => {
    const { answer, closed } = silentAfterOne();
    const { stream, model } = await setUp(answer, { concurrencyMax: 1 });
    const events = eventsOf(await stream())[Symbol.asyncIterator]();
    await events.return?.();
    await closed;
    await slotIsFree(model);
  });

  it('closes the connection at once when the call is cancelled, read or not', async () => {
    const { answer, closed } = silentAfterOne();
    const { stream, model } = await setUp(answer, { concurrencyMax: 1 });
    const controller = new AbortController();
    const { error } = await failing(
      (async function* () {
        for await (const event of eventsOf(await stream(controller.signal))) {
          yield event;
          controller.abort();
        }
      })(),
    );
    expect(error).toMatchObject({ code: 'cancelled' });
    await closed;
    await slotIsFree(model);
  });
});
