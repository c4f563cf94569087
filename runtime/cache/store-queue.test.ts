import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../ports/call-options.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { StoreQueue } from './store-queue.ts';

class Task {
  readonly run: (options: CallOptions) => Promise<void>;
  options: CallOptions | undefined;
  finish: () => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  constructor() {
    const ended = new Promise<void>((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
    ended.catch(() => undefined);
    this.run = (options) => {
      this.options = options;
      return ended;
    };
  }
}

function setUp(options: Partial<{ bytesMax: number; concurrency: number; deadlineMs: number }> = {}) {
  const clock = new ManualClock();
  const counts = new Map<string, number>();
  const child = (name: string, labels: readonly string[]) => {
    const id = [name, ...labels].join('/');
    return {
      add: (amount = 1) => void counts.set(id, (counts.get(id) ?? 0) + amount),
      set: (value: number) => void counts.set(id, value),
      observe: () => undefined,
    };
  };
  const telemetry: Telemetry = {
    counter: (name, ...labels) => child(name, labels),
    gauge: (name, ...labels) => child(name, labels),
    histogram: (name, ...labels) => child(name, labels),
    log: () => undefined,
  };
  const queue = new StoreQueue(
    { clock, telemetry },
    { bytesMax: 100, concurrency: 2, deadlineMs: 1_000, kind: 'entries', ...options },
  );
  return { clock, counts, queue };
}

describe('the store queue', () => {
  it('runs as many stores at once as it may, in order, and says what became of each', async () => {
    const { clock, counts, queue } = setUp();
    const tasks = [new Task(), new Task(), new Task()];
    const results = tasks.map((task) => queue.offer(10, task.run));
    expect(tasks.map((task) => task.options !== undefined)).toEqual([true, true, false]);
    tasks[1]?.finish();
    await clock.settle();
    expect(tasks[2]?.options?.deadlineAtMs).toBe(clock.monotonicMs() + 1_000);
    tasks[0]?.finish();
    tasks[2]?.finish();
    expect(await Promise.all(results)).toEqual(['stored', 'stored', 'stored']);
    expect(counts.get('reprise_stores_total/stored')).toBe(3);
    expect(counts.get('reprise_store_queue_bytes')).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('drops an offer that would exceed its bytes', async () => {
    const { counts, queue } = setUp();
    const task = new Task();
    const first = queue.offer(60, task.run);
    expect(await queue.offer(41, new Task().run)).toBe('dropped');
    expect(queue.bytes).toBe(60);
    expect(counts.get('reprise_stores_total/dropped')).toBe(1);
    task.finish();
    expect(await first).toBe('stored');
    const exact = new Task();
    const next = queue.offer(100, exact.run);
    exact.finish();
    expect(await next).toBe('stored');
  });

  it('records a store that fails, and one that throws at once', async () => {
    const { counts, queue } = setUp();
    expect(await queue.offer(1, () => Promise.reject(new Error('refused')))).toBe('failed');
    const thrown = queue.offer(1, () => {
      throw new Error('at once');
    });
    expect(await thrown).toBe('failed');
    expect(counts.get('reprise_background_failures_total/store')).toBe(2);
    expect(queue.bytes).toBe(0);
  });

  it('gives up a store at its deadline and aborts its signal', async () => {
    const { clock, queue } = setUp({ concurrency: 1 });
    const hung = new Task();
    const next = new Task();
    const results = [queue.offer(10, hung.run)];
    clock.advance(500);
    results.push(queue.offer(10, next.run));
    clock.advance(500);
    expect(await results[0]).toBe('failed');
    expect(hung.options?.signal?.aborted).toBe(true);
    expect(next.options).toBeDefined();
    next.finish();
    expect(await results[1]).toBe('stored');
    hung.finish();
    await clock.settle();
    expect(queue.bytes).toBe(0);
  });

  it('doesn’t begin a store whose deadline passed while it waited', async () => {
    const { clock, queue } = setUp({ concurrency: 1 });
    const hung = new Task();
    const waiting = new Task();
    const results = [queue.offer(10, hung.run), queue.offer(10, waiting.run)];
    clock.advance(1_000);
    expect(await Promise.all(results)).toEqual(['failed', 'failed']);
    expect(waiting.options).toBeUndefined();
  });

  it('drains when nothing is left, or at the deadline', async () => {
    const { clock, queue } = setUp();
    await queue.drain(clock.monotonicMs());
    const tasks = [new Task(), new Task()];
    const results = tasks.map((task) => queue.offer(10, task.run));
    const late = queue.drain(clock.monotonicMs() + 10);
    clock.advance(10);
    await late;
    expect(queue.bytes).toBe(20);
    const whole = queue.drain(clock.monotonicMs() + 900);
    for (const task of tasks) task.finish();
    await whole;
    expect(await Promise.all(results)).toEqual(['stored', 'stored']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('never holds more than its bytes and settles every offer once, whatever happens', async () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('offer' as const), bytes: fc.integer({ min: 0, max: 60 }) }),
      fc.record({ kind: fc.constantFrom('finish' as const, 'fail' as const), index: fc.nat(20) }),
      fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 700 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
        const { clock, counts, queue } = setUp();
        const tasks: Task[] = [];
        const results: Promise<string>[] = [];
        for (const each of events) {
          if (each.kind === 'offer')
            results.push(queue.offer(each.bytes, (tasks[tasks.push(new Task()) - 1] as Task).run));
          else if (each.kind === 'advance') clock.advance(each.ms);
          else if (each.kind === 'finish') tasks[each.index]?.finish();
          else tasks[each.index]?.fail(new Error('as told'));
          expect(queue.bytes).toBeLessThanOrEqual(100);
          await clock.settle();
          expect(queue.bytes).toBeLessThanOrEqual(100);
        }
        await clock.advanceAsync(1_000);
        const settled = await Promise.all(results);
        for (const result of ['stored', 'dropped', 'failed']) {
          const counted = counts.get(`reprise_stores_total/${result}`) ?? 0;
          expect(counted).toBe(settled.filter((each) => each === result).length);
        }
        expect(queue.bytes).toBe(0);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
