import type { Scheduler } from 'fast-check';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Telemetry } from '../ports/telemetry.ts';
import type { FlightSink, FlightsOptions, Lead, Participant } from './flight.ts';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { ActorSystem } from '../actor/actor-system.ts';
import { ModelError, hasCode } from '../errors.ts';
import { Flights } from './flight.ts';

const child = { add: () => undefined, set: () => undefined, observe: () => undefined };
const TELEMETRY: Telemetry = {
  counter: () => child,
  gauge: () => child,
  histogram: () => child,
  log: () => undefined,
};
type Way = 'stay' | 'return' | 'leave' | 'abort';
type End = 'complete' | 'fail' | 'throw';
const FAILURE = new ModelError('model_error', 'as told');

/**
 * What one request does. `stay`: reads all. `return`: reads `takes` chunks and returns. `leave` and `abort`: reads while
 * something else makes it leave, or aborts its signal, at any time.
 */
const request = fc.record({
  id: fc.constantFrom('a', 'b'),
  takes: fc.integer({ min: 0, max: 5 }),
  way: fc.constantFrom<Way>('stay', 'stay', 'return', 'leave', 'abort'),
});
/** What one run of a lead does. */
const plan = fc.record({
  chunks: fc.integer({ min: 0, max: 6 }),
  end: fc.constantFrom<End>('complete', 'complete', 'fail', 'throw'),
  obeysAbort: fc.boolean(),
});

interface Call {
  readonly id: string;
  readonly text: string;
  readonly end: End;
  /** Calls for the same id that ran when this one began. */
  readonly beside: readonly Call[];
  /** From the lead's start to its return or its abort, whichever comes first. */
  active: boolean;
  /** Made for a request that was told to call alone. */
  alone: boolean;
}

interface Reading {
  readonly way: Way;
  readonly call: Call | undefined;
  readonly text: string;
  readonly ended: 'complete' | 'failed' | 'cancelled' | 'returned';
}

/** One world of requests and leads, every step of which the scheduler may put off. */
class World {
  readonly clock = new ManualClock();
  readonly actors = new ActorSystem({ clock: this.clock, telemetry: TELEMETRY });
  readonly calls: Call[] = [];
  readonly flights: Flights;
  readonly #scheduler: Scheduler;
  readonly #plans: readonly { chunks: number; end: End; obeysAbort: boolean }[];

  constructor(
    scheduler: Scheduler,
    options: Partial<FlightsOptions>,
    plans: readonly { chunks: number; end: End; obeysAbort: boolean }[],
  ) {
    this.#scheduler = scheduler;
    this.#plans = plans;
    this.flights = new Flights(
      { actors: this.actors, clock: this.clock, telemetry: TELEMETRY },
      {
        flightsMax: 100,
        entryBytesMax: 1_000,
        streamWindowBytes: 1_000,
        joinDeadlineMs: 100,
        abandoned: 'abort',
        ...options,
      },
    );
  }

  step(name: string): Promise<void> {
    return this.#scheduler.schedule(Promise.resolve(), name);
  }

  async request(number: number, id: string, way: Way, takes: number): Promise<Reading> {
    const controller = new AbortController();
    await this.step(`request ${number} joins`);
    const own: Call[] = [];
    const participant = await this.flights.join({
      flightId: id,
      signal: controller.signal,
      lead: (sink, signal) => this.#lead(id, own)(sink, signal),
    });
    for (const call of own) call.alone = participant.role === 'alone';
    if (way === 'leave') void this.step(`request ${number} leaves`).then(() => participant.leave());
    if (way === 'abort') void this.step(`request ${number} is aborted`).then(() => controller.abort());
    const reading = await this.#read(number, participant, way === 'return' ? takes : Number.POSITIVE_INFINITY);
    return { way, ...reading };
  }

  #lead(id: string, own: Call[]): Lead {
    return (sink, signal) => {
      const number = this.calls.length;
      const plan = this.#plans[number % this.#plans.length] ?? { chunks: 1, end: 'complete', obeysAbort: true };
      const beside = this.calls.filter((other) => other.id === id && other.active);
      const text = 'abcdefgh'.slice(0, plan.chunks);
      const call: Call = { id, text, end: plan.end, beside, active: true, alone: false };
      this.calls.push(call);
      own.push(call);
      const stop = (): void => {
        call.active = false;
      };
      signal.addEventListener('abort', stop);
      if (plan.end === 'throw') {
        stop();
        throw FAILURE;
      }
      return this.#work(number, plan, sink, signal).finally(stop);
    };
  }

  async #work(
    number: number,
    plan: { readonly chunks: number; readonly end: End; readonly obeysAbort: boolean },
    sink: FlightSink,
    signal: AbortSignal,
  ): Promise<{ settled: Promise<void> }> {
    await this.step(`call ${number} begins`);
    sink.begin({ kind: 'stream', contentType: 'text/plain', generation: String(number), calledAtMs: 0 });
    for (const letter of 'abcdefgh'.slice(0, plan.chunks)) {
      await this.step(`call ${number} pushes ${letter}`);
      if (plan.obeysAbort && signal.aborted) throw signal.reason as Error;
      await sink.push(new TextEncoder().encode(letter));
    }
    await this.step(`call ${number} ends`);
    if (plan.end === 'fail') throw FAILURE;
    return { settled: this.step(`store of ${number} settles`) };
  }

  async #read(number: number, participant: Participant, takes: number): Promise<Omit<Reading, 'way'>> {
    let call: Call | undefined;
    let text = '';
    const chunks = participant.chunks();
    try {
      if (takes > 0) call = this.calls[Number((await participant.head()).generation)];
      for (let taken = 0; taken < takes; taken += 1) {
        await this.step(`request ${number} reads`);
        const result = await chunks.next();
        if (result.done === true) return { call, text, ended: 'complete' };
        text += new TextDecoder().decode(result.value);
      }
      await chunks.return?.();
      return { call, text, ended: 'returned' };
    } catch (error) {
      if (error !== FAILURE && !hasCode(error, 'cancelled')) throw error;
      return { call, text, ended: error === FAILURE ? 'failed' : 'cancelled' };
    }
  }
}

/** Nothing of the answer is missing, doubled or another call's; only those that left may have less than all. */
function expectFaithful({ way, call, text, ended }: Reading): void {
  expect(call?.text ?? '').toContain(text);
  expect(call?.text.startsWith(text) ?? text === '').toBe(true);
  if (ended === 'complete') expect({ text, end: call?.end }).toEqual({ text: call?.text, end: 'complete' });
  if (ended === 'failed') expect(text).toBe(call?.text ?? '');
  if (ended === 'failed' && call !== undefined) expect(call.end).toBe('fail');
  if (way === 'stay') expect(['complete', 'failed']).toContain(ended);
}

async function expectAllRight(
  scheduler: Scheduler,
  options: Partial<FlightsOptions>,
  requests: readonly { id: string; way: Way; takes: number }[],
  plans: readonly { chunks: number; end: End; obeysAbort: boolean }[],
): Promise<void> {
  const world = new World(scheduler, options, plans);
  const running = requests.map(({ id, way, takes }, number) => world.request(number, id, way, takes));
  const readings = await scheduler.waitFor(Promise.all(running));
  await scheduler.waitIdle();
  for (const reading of readings) expectFaithful(reading);
  for (const call of world.calls) {
    if (!call.alone) expect(call.beside.filter((other) => !other.alone)).toEqual([]);
  }
  expect(world.flights.live).toBe(0);
  expect(world.flights.recordingsBytes).toBe(0);
  expect(world.actors.activations('flight')).toBe(0);
  world.clock.advance(60_000);
  expect(world.clock.pendingTimers).toBe(0);
}

const requests = fc.array(request, { minLength: 1, maxLength: 8 });
const plans = fc.array(plan, { minLength: 1, maxLength: 4 });

describe('any interleaving of joins, reads, leaves, pushes and ends', () => {
  it('gives every participant a faithful answer from one call at a time, and leaks nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), requests, plans, (scheduler, some, leads) =>
        expectAllRight(scheduler, {}, some, leads),
      ),
      { numRuns: 300 },
    );
  });

  it('holds for recordings past their size limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), requests, plans, (scheduler, some, leads) =>
        expectAllRight(scheduler, { entryBytesMax: 2, streamWindowBytes: 1 }, some, leads),
      ),
      { numRuns: 300 },
    );
  });

  it('holds when abandoned calls are finished', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), requests, plans, (scheduler, some, leads) =>
        expectAllRight(scheduler, { abandoned: 'finish' }, some, leads),
      ),
      { numRuns: 200 },
    );
  });
});
