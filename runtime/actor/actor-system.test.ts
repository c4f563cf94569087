import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Actor, ActorTypeOptions } from './actor.ts';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { ActorSystem } from './actor-system.ts';

const NORMAL: ActorTypeOptions = { mailboxMax: 4, idleMs: 1_000, activationsMax: 3 };

class Gate {
  readonly promise: Promise<void>;
  open: () => void = () => undefined;
  constructor() {
    this.promise = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

function countingTelemetry(): Telemetry & { readonly counts: Map<string, number> } {
  const counts = new Map<string, number>();
  const child = (name: string, labels: readonly string[]) => {
    const id = [name, ...labels].join('/');
    return {
      add: (amount = 1) => void counts.set(id, (counts.get(id) ?? 0) + amount),
      set: (value: number) => void counts.set(id, value),
      observe: () => undefined,
    };
  };
  return {
    counts,
    counter: (name, ...labels) => child(name, labels),
    gauge: (name, ...labels) => child(name, labels),
    histogram: (name, ...labels) => child(name, labels),
    log: () => undefined,
  };
}

/** Appends each message to `seen`; a message that is a gate holds the turn until it opens. */
class Recorder implements Actor {
  readonly seen: unknown[] = [];
  busy = false;
  passivations = 0;
  async #hold(gate: Gate): Promise<string> {
    await gate.promise;
    this.seen.push('opened');
    return 'opened';
  }
  receive(message: unknown): unknown {
    this.seen.push(message instanceof Gate ? 'gate' : message);
    if (message instanceof Gate) return this.#hold(message);
    if (message === 'throw') throw new Error('as told');
    return this.seen.length;
  }
  passivated(): void {
    this.passivations += 1;
  }
}

function setUp(options: Partial<ActorTypeOptions> = {}) {
  const clock = new ManualClock();
  const telemetry = countingTelemetry();
  const system = new ActorSystem({ clock, telemetry });
  const made: Recorder[] = [];
  system.register('recorder', () => made[made.push(new Recorder()) - 1] as Recorder, { ...NORMAL, ...options });
  const call = (key: string, message: unknown, more: { ms?: number; signal?: AbortSignal } = {}) =>
    system.call<unknown>('recorder', key, message, {
      deadlineAtMs: clock.monotonicMs() + (more.ms ?? 500),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
  return { clock, telemetry, system, made, call };
}

describe('turns', () => {
  it('begins the next turn only after the one before it ended', async () => {
    const { made, call } = setUp();
    const gate = new Gate();
    const replies = [call('a', gate), call('a', 'second'), call('a', 'third')];
    expect(made[0]?.seen).toEqual(['gate']);
    gate.open();
    expect(await Promise.all(replies)).toEqual(['opened', 3, 4]);
    expect(made[0]?.seen).toEqual(['gate', 'opened', 'second', 'third']);
  });

  it('runs a turn that needs no waiting inside the call and sets no timer for its caller', async () => {
    const { clock, made, call } = setUp();
    const reply = call('a', 'now');
    expect(made[0]?.seen).toEqual(['now']);
    expect(clock.pendingTimers).toBe(1);
    expect(await reply).toBe(1);
  });

  it('lets keys run side by side', async () => {
    const { call } = setUp();
    const gate = new Gate();
    const held = call('a', gate);
    expect(await call('b', 'free')).toBe(1);
    gate.open();
    await held;
  });

  it('gives a turn’s error to its own caller and goes on', async () => {
    const { call } = setUp();
    const gate = new Gate();
    const replies = [call('a', gate), call('a', 'throw'), call('a', 'after')];
    gate.open();
    const results = await Promise.allSettled(replies);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('bounds', () => {
  it('refuses and counts a message that finds the mailbox full', async () => {
    const { telemetry, call } = setUp({ mailboxMax: 1 });
    const gate = new Gate();
    const accepted = [call('a', gate), call('a', 'waits')];
    await expect(call('a', 'too much')).rejects.toMatchObject({ code: 'mailbox_full' });
    expect(telemetry.counts.get('reprise_mailbox_refused_total/recorder')).toBe(1);
    gate.open();
    expect(await Promise.all(accepted)).toEqual(['opened', 3]);
  });

  it('passivates the idlest activation to make room for a new one', async () => {
    const { clock, system, made, call } = setUp({ activationsMax: 2 });
    await call('a', 1);
    clock.advance(1);
    await call('b', 1);
    await call('a', 2);
    await call('c', 1);
    expect(made.map((actor) => actor.passivations)).toEqual([0, 1, 0]);
    expect(system.activations('recorder')).toBe(2);
  });

  it('refuses a new activation when none is idle', async () => {
    const { made, call } = setUp({ activationsMax: 2 });
    const gate = new Gate();
    const held = call('a', gate);
    await call('b', 1);
    (made[1] as Recorder).busy = true;
    await expect(call('c', 1)).rejects.toMatchObject({ code: 'overloaded' });
    gate.open();
    await held;
  });
});

describe('giving up', () => {
  it('ends the caller’s wait at its deadline and still completes the turn', async () => {
    const { clock, made, call } = setUp();
    const gate = new Gate();
    const reply = call('a', gate, { ms: 50 });
    clock.advance(50);
    await expect(reply).rejects.toMatchObject({ code: 'actor_timeout' });
    gate.open();
    await clock.settle();
    expect(made[0]?.seen).toEqual(['gate', 'opened']);
  });

  it('gives no turn to a message whose caller gave up before', async () => {
    const { clock, made, call } = setUp();
    const gate = new Gate();
    const held = call('a', gate);
    const given = call('a', 'too late', { ms: 10 });
    clock.advance(10);
    await expect(given).rejects.toMatchObject({ code: 'actor_timeout' });
    gate.open();
    await held;
    await call('a', 'next');
    expect(made[0]?.seen).toEqual(['gate', 'opened', 'next']);
  });

  it('ends the wait when the caller’s signal is aborted', async () => {
    const { call } = setUp();
    const controller = new AbortController();
    const gate = new Gate();
    const reply = call('a', gate, { signal: controller.signal });
    controller.abort();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
    gate.open();
  });

  it('refuses a call whose deadline has passed or whose signal is aborted already', async () => {
    const { made, call } = setUp();
    await expect(call('a', 1, { ms: 0 })).rejects.toMatchObject({ code: 'actor_timeout' });
    await expect(call('a', 1, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    expect(made).toHaveLength(0);
  });
});

describe('passivation', () => {
  it('ends an activation that was idle for long enough; the next message makes a new one', async () => {
    const { clock, telemetry, made, call } = setUp();
    await call('a', 1);
    clock.advance(999);
    expect(made[0]?.passivations).toBe(0);
    clock.advance(1);
    expect(made[0]?.passivations).toBe(1);
    expect(telemetry.counts.get('reprise_activations/recorder')).toBe(0);
    expect(await call('a', 'anew')).toBe(1);
    expect(made).toHaveLength(2);
  });

  it('counts idleness from the last turn', async () => {
    const { clock, made, call } = setUp();
    await call('a', 1);
    clock.advance(600);
    await call('a', 2);
    clock.advance(999);
    expect(made[0]?.passivations).toBe(0);
    clock.advance(1);
    expect(made[0]?.passivations).toBe(1);
  });

  it('leaves an activation alone while a turn runs', async () => {
    const { clock, made, call } = setUp();
    await call('a', 1);
    const gate = new Gate();
    const held = call('a', gate, { ms: 60_000 });
    const waiting = call('a', 'waits', { ms: 60_000 });
    clock.advance(10_000);
    expect(made[0]?.passivations).toBe(0);
    gate.open();
    await Promise.all([held, waiting]);
    clock.advance(1_000);
    expect(made).toHaveLength(1);
    expect(made[0]?.passivations).toBe(1);
  });

  it('leaves a busy actor alone until it no longer is', async () => {
    const { clock, made, call } = setUp();
    await call('a', 1);
    const actor = made[0] as Recorder;
    actor.busy = true;
    clock.advance(5_000);
    expect(actor.passivations).toBe(0);
    actor.busy = false;
    clock.advance(1_000);
    expect(actor.passivations).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('follows at once a turn that asks for it', async () => {
    const clock = new ManualClock();
    const system = new ActorSystem({ clock, telemetry: countingTelemetry() });
    system.register('once', () => ({ receive: (_message, turn) => turn.passivateAfter() }), NORMAL);
    await system.call('once', 'a', 1, { deadlineAtMs: clock.monotonicMs() + 1 });
    expect(system.activations('once')).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('stop', () => {
  it('lets accepted messages end and refuses new ones', async () => {
    const { clock, system, made, call } = setUp();
    const gate = new Gate();
    const replies = [call('a', gate), call('a', 'waits')];
    const stopped = system.stop();
    await expect(call('b', 1)).rejects.toMatchObject({ code: 'actor_stopped' });
    gate.open();
    expect(await Promise.all(replies)).toEqual(['opened', 3]);
    await stopped;
    expect(made[0]?.passivations).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails what still waits at its deadline', async () => {
    const { clock, system, made, call } = setUp();
    const gate = new Gate();
    const held = call('a', gate, { ms: 60_000 });
    const waiting = call('a', 'waits', { ms: 60_000 });
    const stopped = system.stop({ deadlineAtMs: clock.monotonicMs() + 100 });
    clock.advance(100);
    await stopped;
    await expect(waiting).rejects.toMatchObject({ code: 'actor_stopped' });
    gate.open();
    expect(await held).toBe('opened');
    expect(made[0]?.passivations).toBe(1);
  });
});

describe('any interleaving', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    sync: fc.boolean(),
    advanceMs: fc.integer({ min: 0, max: 25 }),
  });

  it('keeps one activation and one turn a key, answers each call once and in order, and leaks nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 40 }), async (scheduler, steps) => {
        const clock = new ManualClock();
        const system = new ActorSystem({ clock, telemetry: countingTelemetry() });
        const live = new Map<string, number>();
        const turns = new Map<string, number>();
        const order = new Map<string, number[]>();
        const accepted = new Map<string, number[]>();
        const note = (map: Map<string, number[]>, key: string, n: number): void => {
          map.set(key, [...(map.get(key) ?? []), n]);
        };
        const change = (map: Map<string, number>, key: string, by: number): number => {
          const now = (map.get(key) ?? 0) + by;
          map.set(key, now);
          return now;
        };
        system.register<{ readonly n: number; readonly sync: boolean }, number>(
          'probe',
          (key) => {
            expect(change(live, key, 1)).toBe(1);
            return {
              receive: ({ n, sync }) => {
                expect(change(turns, key, 1)).toBe(1);
                note(order, key, n);
                const end = (): number => {
                  change(turns, key, -1);
                  return n;
                };
                return sync ? end() : scheduler.schedule(Promise.resolve(), `turn ${n}`).then(end);
              },
              passivated: () => {
                expect(turns.get(key)).toBe(0);
                change(live, key, -1);
              },
            };
          },
          { mailboxMax: 50, idleMs: 20, activationsMax: 2 },
        );
        const refused: string[] = [];
        const calls = steps.map(async ({ key, sync, advanceMs }, n) => {
          await scheduler.schedule(Promise.resolve(), `call ${n}`);
          clock.advance(advanceMs);
          const options = { deadlineAtMs: clock.monotonicMs() + 1_000_000 };
          note(accepted, key, n);
          const reply = system.call<number>('probe', key, { n, sync }, options);
          await reply.then(
            (value) => expect(value).toBe(n),
            (error: { code: string }) => {
              refused.push(error.code);
              accepted.set(key, accepted.get(key)?.filter((other) => other !== n) ?? []);
            },
          );
        });
        await scheduler.waitFor(Promise.all(calls));
        expect(refused.every((code) => code === 'overloaded')).toBe(true);
        for (const [key, numbers] of accepted) expect(order.get(key) ?? []).toEqual(numbers);
        clock.advance(1_000);
        expect([...live.values()].every((count) => count === 0)).toBe(true);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
