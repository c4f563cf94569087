import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { RepriseError } from '../errors.ts';
import { EmbedQueue } from './embed-queue.ts';
import type { EmbedQueueOptions } from './embed-queue.ts';
import { CountingTelemetry, TableEmbedder } from './testing/doubles.ts';

function setUp(options: Partial<EmbedQueueOptions> = {}) {
  const clock = new ManualClock();
  const telemetry = new CountingTelemetry();
  const embedder = new TableEmbedder();
  const queue = new EmbedQueue(
    { embedder, clock, telemetry },
    { queueMax: 8, batchMax: 4, timeoutMs: 1_000, cacheBytesMax: 100_000, ...options },
  );
  const within = (ms: number) => ({ deadlineAtMs: clock.monotonicMs() + ms });
  return { clock, telemetry, embedder, queue, within };
}

function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RepriseError ? error.code : 'other'),
  );
}

describe('EmbedQueue', () => {
  it('gathers what arrives in one turn of the loop into one batch', async () => {
    const { queue, embedder, within } = setUp();
    await Promise.all(['a', 'b', 'c'].map((text) => queue.embed(text, within(100))));
    expect(embedder.batches).toEqual([['a', 'b', 'c']]);
  });

  it('makes no batch larger than the bound', async () => {
    const { queue, embedder, within } = setUp();
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((text) => queue.embed(text, within(100))));
    expect(embedder.batches.map((batch) => batch.length)).toEqual([4, 2]);
  });

  it('embeds equal texts that wait or are under way once', async () => {
    const { queue, embedder, within } = setUp();
    embedder.hold = true;
    const first = queue.embed('a', within(100));
    await Promise.resolve();
    const second = queue.embed('a', within(100));
    embedder.held[0]?.answer();
    expect(await first).toBe(await second);
    expect(embedder.batches).toEqual([['a']]);
  });

  it('answers a text that it has seen from the vector cache', async () => {
    const { queue, embedder, telemetry, within } = setUp();
    await queue.embed('a', within(100));
    await queue.embed('a', within(100));
    expect(embedder.batches).toHaveLength(1);
    expect(telemetry.count('reprise_embeddings_total cached')).toBe(1);
  });

  it('keeps the vector cache within its bytes', async () => {
    const { queue, within } = setUp({ cacheBytesMax: 1_000 });
    for (let n = 0; n < 50; n += 1) {
      await queue.embed(`text ${n}`, within(100));
      expect(queue.cacheBytes).toBeLessThanOrEqual(1_000);
    }
    expect(queue.isCached('text 49')).toBe(true);
    expect(queue.isCached('text 0')).toBe(false);
  });

  it('refuses past its bound, but not a text that waits already', async () => {
    const { queue, embedder, telemetry, within } = setUp({ queueMax: 2 });
    embedder.hold = true;
    const waiting = ['a', 'b'].map((text) => queue.embed(text, within(100)));
    expect(await codeOf(queue.embed('c', within(100)))).toBe('overloaded');
    expect(telemetry.count('reprise_embeddings_total refused')).toBe(1);
    const again = queue.embed('b', within(100));
    embedder.held[0]?.answer();
    await Promise.all([...waiting, again]);
    expect(embedder.batches).toEqual([['a', 'b']]);
  });

  it('lets texts that are only to be stored wait for those of look-ups, and none of them fill the queue of the others', async () => {
    const { queue, embedder, within } = setUp({ queueMax: 2, batchMax: 2 });
    embedder.hold = true;
    const first = queue.embed('first', within(900));
    await Promise.resolve();
    const stores = ['s1', 's2'].map((text) => queue.embed(text, within(900), 'store'));
    expect(await codeOf(queue.embed('s3', within(900), 'store'))).toBe('overloaded');
    const asked = queue.embed('asked', within(900));
    const urgent = queue.embed('s2', within(900));
    embedder.hold = false;
    embedder.held[0]?.answer();
    await Promise.all([first, ...stores, asked, urgent]);
    expect(embedder.batches).toEqual([['first'], ['asked', 's2'], ['s1']]);
  });

  it('never sends a text whose callers have all given up', async () => {
    const { queue, embedder, clock, within } = setUp();
    embedder.hold = true;
    const first = queue.embed('first', within(900));
    await Promise.resolve();
    const controller = new AbortController();
    const late = queue.embed('late', within(50));
    const left = queue.embed('left', { ...within(900), signal: controller.signal });
    const kept = queue.embed('kept', within(900));
    const outcomes = Promise.all([codeOf(late), codeOf(left)]);
    clock.advance(60);
    controller.abort();
    expect(await outcomes).toEqual(['embedder_timeout', 'cancelled']);
    embedder.hold = false;
    embedder.held[0]?.answer();
    await Promise.all([first, kept]);
    expect(embedder.batches).toEqual([['first'], ['kept']]);
  });

  it('lets one caller leave without disturbing another with the same text', async () => {
    const { queue, embedder, within } = setUp();
    embedder.hold = true;
    const controller = new AbortController();
    const leaving = codeOf(queue.embed('a', { ...within(100), signal: controller.signal }));
    const staying = codeOf(queue.embed('a', within(100)));
    await Promise.resolve();
    controller.abort();
    embedder.held[0]?.answer();
    expect(await leaving).toBe('cancelled');
    expect(await staying).toBe('resolved');
  });

  it('goes on when an embedder hangs past its time', async () => {
    const { queue, embedder, clock, within } = setUp({ timeoutMs: 200 });
    embedder.hold = true;
    const hanging = codeOf(queue.embed('a', within(10_000)));
    await Promise.resolve();
    clock.advance(200);
    expect(await hanging).toBe('embedder_timeout');
    expect(embedder.held[0]?.options.signal?.aborted).toBe(true);
    embedder.hold = false;
    expect(await codeOf(queue.embed('b', within(100)))).toBe('resolved');
  });

  it('keeps what a slow embedder answers after its caller left', async () => {
    const { queue, embedder, clock, within } = setUp();
    embedder.hold = true;
    const late = codeOf(queue.embed('a', within(50)));
    await Promise.resolve();
    clock.advance(60);
    expect(await late).toBe('embedder_timeout');
    embedder.held[0]?.answer();
    await clock.settle();
    expect(queue.isCached('a')).toBe(true);
  });

  it.each([
    ['numbers that are no numbers', [Number.NaN, 1, 1, 1, 1, 1, 1, 1]],
    ['zeros', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['infinity', [Infinity, 0, 0, 0, 0, 0, 0, 0]],
    ['wrong dimensions', [1, 0, 0]],
  ])('refuses a vector of %s, says so, and recovers', async (_name, constant) => {
    const { queue, embedder, telemetry, within } = setUp();
    embedder.constant = constant;
    expect(await codeOf(queue.embed('a', within(100)))).toBe('embedder_invalid_vector');
    expect(queue.isCached('a')).toBe(false);
    expect(telemetry.gauges.get('reprise_embedder_up')).toBe(0);
    expect(queue.failure?.code).toBe('embedder_invalid_vector');
    embedder.constant = undefined;
    expect(await codeOf(queue.embed('a', within(100)))).toBe('resolved');
    expect(telemetry.gauges.get('reprise_embedder_up')).toBe(1);
    expect(telemetry.events).toEqual(['embedder_failed', 'embedder_recovered']);
  });

  it('refuses a batch with too few answers', async () => {
    const { queue, embedder, within } = setUp();
    embedder.embed = () => Promise.resolve([]);
    expect(await codeOf(queue.embed('a', within(100)))).toBe('embedder_invalid_vector');
  });

  it('survives an embedder that throws instead of rejecting', async () => {
    const { queue, embedder, within } = setUp();
    embedder.embed = () => {
      throw new RepriseError('embedder_unavailable', 'gone');
    };
    expect(await codeOf(queue.embed('a', within(100)))).toBe('embedder_unavailable');
  });

  it('gives vectors unit length', async () => {
    const { queue, embedder, within } = setUp();
    embedder.constant = [3, 4, 0, 0, 0, 0, 0, 0];
    const { vector } = await queue.embed('a', within(100));
    expect([...vector].slice(0, 2)).toEqual([expect.closeTo(0.6), expect.closeTo(0.8)]);
  });

  it('expects to wait for what is queued, and forgets a slow time while idle', async () => {
    const { queue, embedder, clock, within } = setUp();
    expect(queue.expectedWaitMs()).toBe(0);
    embedder.hold = true;
    const first = queue.embed('a', within(1_000));
    await Promise.resolve();
    clock.advance(40);
    embedder.held[0]?.answer();
    await first;
    expect(queue.expectedWaitMs()).toBeCloseTo(40);
    const second = queue.embed('b', within(1_000));
    await Promise.resolve();
    clock.advance(10);
    void codeOf(queue.embed('c', within(1_000)));
    expect(queue.expectedWaitMs()).toBeCloseTo(30 + 80);
    embedder.hold = false;
    embedder.held[1]?.answer();
    await second;
    await clock.settle();
    clock.advance(20_000);
    expect(queue.expectedWaitMs()).toBeLessThan(1);
  });

  it('fails what waits when it is stopped', async () => {
    const { queue, embedder, within } = setUp();
    embedder.hold = true;
    const outcomes = Promise.all(['a', 'b', 'c', 'd', 'e'].map((text) => codeOf(queue.embed(text, within(100)))));
    await Promise.resolve();
    queue.stop();
    expect(new Set(await outcomes)).toEqual(new Set(['embedder_unavailable']));
    expect(await codeOf(queue.embed('f', within(100)))).toBe('embedder_unavailable');
  });

  it('settles every call and leaks no timer under any interleaving', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('embed' as const),
        text: fc.integer({ min: 0, max: 9 }),
        ms: fc.integer({ min: 1, max: 300 }),
      }),
      fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 150 }) }),
      fc.record({ kind: fc.constant('answer' as const) }),
      fc.record({ kind: fc.constant('fail' as const) }),
      fc.record({ kind: fc.constant('abort' as const), which: fc.nat(20) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { queue, embedder, clock, within } = setUp({ queueMax: 5, batchMax: 2, timeoutMs: 200 });
        embedder.hold = true;
        const calls: Promise<string>[] = [];
        const controllers: AbortController[] = [];
        for (const action of steps) {
          if (action.kind === 'embed') {
            const controller = new AbortController();
            controllers.push(controller);
            calls.push(codeOf(queue.embed(`t${action.text}`, { ...within(action.ms), signal: controller.signal })));
          } else if (action.kind === 'advance') await clock.advanceAsync(action.ms);
          else if (action.kind === 'answer') embedder.held.shift()?.answer();
          else if (action.kind === 'fail') embedder.held.shift()?.fail(new RepriseError('embedder_unavailable', 'x'));
          else controllers[action.which]?.abort();
          await Promise.resolve();
          expect(queue.size).toBeLessThanOrEqual(5);
        }
        await clock.advanceAsync(5_000);
        expect(await Promise.all(calls)).toHaveLength(calls.length);
        expect(queue.size).toBe(0);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
