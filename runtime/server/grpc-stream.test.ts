import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { MISS_STATUS, eventOf, streamReply } from '../../clients/gateway/fake-service.ts';
import { InferStreamResponse } from '../../proto/gen/reprise/v1/inference_cache.ts';
import type { StreamCall } from './grpc-request.ts';
import { relayStream } from './grpc-stream.ts';

const STALL_MS = 20_000;
const ignored = (): void => undefined;

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
}

function deferred<Value = void>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** A call whose client reads when told. */
class FakeCall extends EventEmitter {
  readonly parts: NonNullable<InferStreamResponse['part']>[] = [];
  cancelled = false;
  isFull = false;
  #awaited: { count: number; resolve: () => void } | undefined;

  get writableNeedDrain(): boolean {
    return this.isFull;
  }

  write(bytes: Uint8Array): boolean {
    const { part } = InferStreamResponse.decode(bytes);
    if (part !== undefined) this.parts.push(part);
    if (this.#awaited !== undefined && this.parts.length >= this.#awaited.count) this.#awaited.resolve();
    return !this.isFull;
  }

  received(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { count, resolve };
      if (this.parts.length >= count) resolve();
    });
  }

  drain(): void {
    this.isFull = false;
    this.emit('drain');
  }

  cancel(): void {
    this.cancelled = true;
    this.emit('cancelled');
  }

  get asCall(): StreamCall {
    return this as unknown as StreamCall;
  }

  get cases(): readonly string[] {
    return this.parts.map(({ $case }) => $case);
  }
}

/** Events that a test gives one by one; knows how often it was asked and whether it was left. */
class GivenEvents implements AsyncIterableIterator<Uint8Array> {
  readonly left = deferred();
  readonly #chunks: Uint8Array[];
  pulls = 0;
  returns = 0;
  endless = false;

  constructor(...chunks: Uint8Array[]) {
    this.#chunks = chunks;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.pulls += 1;
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return { done: false, value: chunk };
    if (this.endless) await this.left.promise;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.returns += 1;
    this.left.resolve();
    return { done: true, value: undefined };
  }
}

describe('relayStream', () => {
  it('sends the status first, the events as they are, and the usage last', async () => {
    const call = new FakeCall();
    await relayStream(
      call.asCall,
      streamReply(new GivenEvents(eventOf({ n: 1 }), eventOf({ n: 2 }))),
      STALL_MS,
      ignored,
    );
    expect(call.cases).toEqual(['status', 'events', 'events', 'usage']);
    expect(call.parts[0]).toMatchObject({ value: { stored: true, entryId: MISS_STATUS.entryId } });
    expect(call.parts.slice(1, 3).map(({ value }) => Buffer.from(value as Uint8Array))).toEqual(
      [eventOf({ n: 1 }), eventOf({ n: 2 })].map((event) => Buffer.from(event)),
    );
    expect(call.parts[3]).toMatchObject({ value: { served: { promptTokens: 3, completionTokens: 2 } } });
  });

  it('leaves a stream that ended by itself alone', async () => {
    const call = new FakeCall();
    const events = new GivenEvents(eventOf({}));
    await relayStream(call.asCall, streamReply(events), STALL_MS, ignored);
    expect(events.returns).toBe(0);
    expect(call.listenerCount('cancelled')).toBe(0);
  });

  it('asks for no more events than the client takes', async () => {
    const call = new FakeCall();
    call.isFull = true;
    const events = new GivenEvents(eventOf({ n: 1 }), eventOf({ n: 2 }));
    const relayed = relayStream(call.asCall, streamReply(events), STALL_MS, ignored);
    await call.received(1);
    expect(events.pulls).toBeLessThanOrEqual(1);
    call.drain();
    await relayed;
    expect(call.cases).toEqual(['status', 'events', 'events', 'usage']);
  });

  it('leaves the stream at once when the call is cancelled', async () => {
    const call = new FakeCall();
    const events = new GivenEvents(eventOf({ n: 1 }));
    events.endless = true;
    const relayed = relayStream(call.asCall, streamReply(events), STALL_MS, ignored);
    await call.received(2);
    call.cancel();
    await relayed;
    expect(events.returns).toBe(1);
    expect(call.cases).toEqual(['status', 'events']);
  });

  it('leaves the stream when the call was cancelled before it began', async () => {
    const call = new FakeCall();
    call.cancelled = true;
    const events = new GivenEvents(eventOf({}));
    await relayStream(call.asCall, streamReply(events), STALL_MS, ignored);
    expect(events.returns).toBe(1);
    expect(events.pulls).toBe(0);
  });

  it('leaves the stream when the call is cancelled while the client takes nothing', async () => {
    const call = new FakeCall();
    call.isFull = true;
    const events = new GivenEvents(eventOf({ n: 1 }));
    const relayed = relayStream(call.asCall, streamReply(events), STALL_MS, ignored);
    await call.received(1);
    call.cancel();
    await relayed;
    expect(events.returns).toBe(1);
    expect(call.listenerCount('drain')).toBe(0);
  });

  it('gives up on a client that takes nothing for too long', async () => {
    const call = new FakeCall();
    call.isFull = true;
    const events = new GivenEvents(eventOf({ n: 1 }));
    await expect(relayStream(call.asCall, streamReply(events), 1, ignored)).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(events.returns).toBe(1);
  });

  it('throws the stream’s own error after what came before it', async () => {
    const call = new FakeCall();
    const failure = new Error('cut');
    const chunks = (async function* () {
      yield eventOf({ n: 1 });
      throw failure;
    })();
    await expect(relayStream(call.asCall, streamReply(chunks), STALL_MS, ignored)).rejects.toBe(failure);
    expect(call.cases).toEqual(['status', 'events']);
  });

  it('splits a large recording between events', async () => {
    const call = new FakeCall();
    const event = Buffer.from(eventOf({ text: 'x'.repeat(300_000) }));
    const recording = Buffer.concat(Array.from({ length: 10 }, () => event));
    await relayStream(call.asCall, streamReply(new GivenEvents(recording)), STALL_MS, ignored);
    const parts = call.parts.filter(({ $case }) => $case === 'events').map(({ value }) => value as Uint8Array);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(1024 * 1024);
      expect(part.length % event.length).toBe(0);
    }
    expect(Buffer.concat(parts).equals(recording)).toBe(true);
  });

  it('keeps an event larger than a message whole', async () => {
    const call = new FakeCall();
    const large = eventOf({ text: 'x'.repeat(1_500_000) });
    const small = eventOf({ n: 2 });
    await relayStream(call.asCall, streamReply(new GivenEvents(Buffer.concat([large, small]))), STALL_MS, ignored);
    const sizes = call.parts.filter(({ $case }) => $case === 'events').map(({ value }) => (value as Uint8Array).length);
    expect(sizes).toEqual([large.length, small.length]);
  });
});
