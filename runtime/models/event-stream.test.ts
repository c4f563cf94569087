import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readEventStream } from './event-stream.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { UpstreamCall } from './upstream-call.ts';

describe('readEventStream', () => {
  it('reads no further than its reader asks and the stream holds ahead', async () => {
    let pulled = 0;
    const event = Buffer.from(`data: "${'x'.repeat(1_000)}"\n\n`);
    const endless = new Readable({
      highWaterMark: 4 * event.length,
      read() {
        pulled += 1;
        this.push(event);
      },
    });
    const clock = new ManualClock();
    const call = new UpstreamCall(
      clock,
      'test',
      { signal: new AbortController().signal, deadlineAtMs: Infinity },
      () => {},
    );
    const events = readEventStream(endless, call, { upstream: 'test', eventBytesMax: 10_000, clock })[
      Symbol.asyncIterator
    ]();
    for (let taken = 1; taken <= 50; taken += 1) {
      await events.next();
      await new Promise(setImmediate);
      expect(pulled).toBeLessThanOrEqual(taken + 16);
    }
    await events.return?.();
    expect(endless.destroyed).toBe(true);
  });

  it('tells once that the call is over', async () => {
    let released = 0;
    const clock = new ManualClock();
    const options = { signal: new AbortController().signal, deadlineAtMs: clock.monotonicMs() + 1_000 };
    const call = new UpstreamCall(clock, 'test', options, () => (released += 1));
    const body = Readable.from([Buffer.from('data: {}\n\ndata: [DONE]\n\n')]);
    const events = readEventStream(body, call, { upstream: 'test', eventBytesMax: 100, clock });
    const closed = new Promise((resolve) => body.once('close', resolve));
    for await (const event of events) expect(Buffer.from(event).toString()).toBe('{}');
    await closed;
    expect([released, clock.timers]).toEqual([1, 0]);
  });
});
