import { describe, expect, it } from 'vitest';
import { ManualClock } from './testing/manual-clock.ts';
import { UpstreamSlots } from './upstream-slots.ts';
import type { SlotRequest, UpstreamSlotsOptions } from './upstream-slots.ts';

const OPTIONS: UpstreamSlotsOptions = {
  upstream: 'test',
  concurrencyMax: 1,
  queueMax: 2,
  queueTimeoutMs: 100,
  pauseMsMax: 1_000,
};

function setUp(options: Partial<UpstreamSlotsOptions> = {}) {
  const clock = new ManualClock();
  const gauge = { value: 0, set: (value: number) => void (gauge.value = value) };
  const slots = new UpstreamSlots({ clock, queueGauge: gauge }, { ...OPTIONS, ...options });
  const ask = (request: Partial<SlotRequest> = {}) =>
    slots.acquire({ signal: new AbortController().signal, deadlineAtMs: Infinity, lane: '', ...request });
  return { clock, gauge, slots, ask };
}

describe('UpstreamSlots', () => {
  it('grants up to the limit, then in the order of asking', async () => {
    const { slots, ask, gauge } = setUp();
    const order: string[] = [];
    const release = await ask();
    const second = ask().then((next) => (order.push('second'), next));
    const third = ask().then((next) => (order.push('third'), next));
    expect([slots.active, slots.waiting, gauge.value]).toEqual([1, 2, 2]);
    release();
    (await second)();
    await third;
    expect(order).toEqual(['second', 'third']);
    expect([slots.active, gauge.value]).toEqual([1, 0]);
  });

  it('counts a slot that is given back twice once', async () => {
    const { slots, ask } = setUp();
    const release = await ask();
    release();
    release();
    expect(slots.active).toBe(0);
  });

  it('refuses past the length of the queue, with a time to come back', async () => {
    const { ask } = setUp({ queueMax: 0 });
    await ask();
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_queue_full', retryAfterMs: 1_000 });
  });

  it('gives up a call that waited too long', async () => {
    const { slots, ask, clock } = setUp();
    await ask();
    const waiting = ask();
    clock.advance(100);
    await expect(waiting).rejects.toMatchObject({ code: 'upstream_queue_full' });
    expect(slots.waiting).toBe(0);
  });

  it('gives up a call at its deadline', async () => {
    const { ask, clock } = setUp();
    await ask();
    const waiting = ask({ deadlineAtMs: clock.monotonicMs() + 10 });
    clock.advance(10);
    await expect(waiting).rejects.toMatchObject({ code: 'model_timeout' });
  });

  it('lets a cancelled call leave the queue at once', async () => {
    const { slots, ask, clock } = setUp();
    await ask();
    const controller = new AbortController();
    const waiting = ask({ signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    expect([slots.waiting, clock.timers]).toEqual([0, 0]);
  });

  it('grants nothing to a call that was cancelled before', async () => {
    const { slots, ask } = setUp();
    await expect(ask({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    expect(slots.active).toBe(0);
  });

  it('starts no call during a pause and the first right after it', async () => {
    const { slots, ask, clock } = setUp();
    slots.pause(50, '');
    const waiting = ask();
    clock.advance(49);
    expect([slots.active, slots.waiting]).toEqual([0, 1]);
    clock.advance(1);
    (await waiting)();
    expect(clock.timers).toBe(0);
  });

  it('keeps waiting when a pause grows meanwhile', async () => {
    const { slots, ask, clock } = setUp();
    slots.pause(50, '');
    const waiting = ask();
    clock.advance(30);
    slots.pause(40, '');
    clock.advance(30);
    expect(slots.active).toBe(0);
    clock.advance(10);
    await waiting;
    expect(slots.active).toBe(1);
  });

  it('never shortens a pause', async () => {
    const { slots, ask, clock } = setUp();
    slots.pause(50, '');
    slots.pause(1, '');
    const waiting = ask();
    clock.advance(49);
    expect(slots.active).toBe(0);
    clock.advance(1);
    await waiting;
  });

  it('pauses one lane without the others', async () => {
    const { slots, ask, clock } = setUp();
    slots.pause(50, 'over-quota');
    const paused = ask({ lane: 'over-quota' });
    const release = await ask({ lane: 'other' });
    const behind = ask({ lane: 'other' });
    release();
    const next = await behind;
    clock.advance(50);
    expect(slots.waiting).toBe(1);
    next();
    await paused;
  });

  it('bounds a pause, and refuses at once a call that cannot outwait it', async () => {
    const { slots, ask } = setUp();
    slots.pause(3_600_000, '');
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_queue_full', retryAfterMs: 1_000 });
  });

  it('forgets old lanes rather than grow', async () => {
    const { slots, ask } = setUp({ concurrencyMax: 10 });
    slots.pause(50, '');
    for (let lane = 0; lane < 3_000; lane += 1) slots.pause(1_000, `lane-${lane}`);
    await expect(ask({ lane: 'lane-2999' })).rejects.toMatchObject({ code: 'upstream_queue_full' });
    void ask({ lane: 'lane-0' });
    expect(slots.waiting).toBe(1);
  });

  it('refuses all when closed', async () => {
    const { slots, ask } = setUp();
    await ask();
    const waiting = ask();
    slots.close();
    await expect(waiting).rejects.toMatchObject({ code: 'model_unavailable' });
    await expect(ask()).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});
