import { describe, expect, it } from 'vitest';
import type { Telemetry } from '../ports/telemetry.ts';
import type { FlightJoin, FlightsOptions, FlightSink, Lead, Participant } from './flight.ts';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { ActorSystem } from '../actor/actor-system.ts';
import { ModelError } from '../errors.ts';
import { Flights } from './flight.ts';

const OPTIONS: FlightsOptions = {
  flightsMax: 4,
  entryBytesMax: 16,
  streamWindowBytes: 4,
  joinDeadlineMs: 100,
  abandoned: 'abort',
  slowReaderMs: 1_000,
  stuckReaderMs: 10_000,
  lingerMs: 500,
};

/** One run of a lead, in the test's hands. */
class Run {
  readonly sink: FlightSink;
  readonly signal: AbortSignal;
  readonly result: Promise<{ settled: Promise<void> }>;
  settle: () => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  complete: () => void = () => undefined;

  constructor(sink: FlightSink, signal: AbortSignal, generation: number) {
    this.sink = sink;
    this.signal = signal;
    const settled = new Promise<void>((resolve) => {
      this.settle = resolve;
    });
    this.result = new Promise((resolve, reject) => {
      this.complete = () => resolve({ settled });
      this.fail = reject;
    });
    sink.begin({ kind: 'stream', contentType: 'text/event-stream', generation: String(generation), calledAtMs: 0 });
  }

  /** Pushes without waiting for slow readers. */
  push(text: string): void {
    void this.pushOrWait(text);
  }

  pushOrWait(text: string): void | Promise<void> {
    return this.sink.push(new TextEncoder().encode(text));
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

function setUp(options: Partial<FlightsOptions> = {}) {
  const clock = new ManualClock();
  const telemetry = countingTelemetry();
  const actors = new ActorSystem({ clock, telemetry });
  const flights = new Flights({ actors, clock, telemetry }, { ...OPTIONS, ...options });
  const runs: Run[] = [];
  const lead: Lead = (sink, signal) => {
    const run = new Run(sink, signal, runs.length);
    runs.push(run);
    return run.result;
  };
  const join = (more: Partial<FlightJoin> = {}): Promise<Participant> =>
    flights.join({ flightId: 'id', signal: new AbortController().signal, lead, ...more });
  /** Nothing is left of any flight: no call, no bytes, no home, no timer. */
  const expectNothingLeft = async (): Promise<void> => {
    await clock.settle();
    expect(flights.live).toBe(0);
    expect(flights.recordingsBytes).toBe(0);
    expect(telemetry.counts.get('reprise_flights_live')).toBe(0);
    expect(actors.activations('flight')).toBe(0);
    clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
  };
  return { clock, telemetry, actors, flights, runs, join, expectNothingLeft };
}

function run(runs: readonly Run[], index = 0): Run {
  const found = runs[index];
  if (found === undefined) throw new Error(`the lead did not run ${index + 1} times`);
  return found;
}

async function readAll(participant: Participant): Promise<string> {
  let text = '';
  for await (const chunk of participant.chunks()) text += new TextDecoder().decode(chunk);
  return text;
}

async function readOne(chunks: AsyncIterator<Uint8Array>): Promise<string> {
  const result = await chunks.next();
  return result.done === true ? '(end)' : new TextDecoder().decode(result.value);
}

describe('sharing', () => {
  it('calls the model once for 64 joins at once, and gives all the same answer', async () => {
    const { telemetry, runs, join, expectNothingLeft } = setUp();
    const participants = await Promise.all(Array.from({ length: 64 }, () => join()));
    const answers = participants.map(readAll);
    run(runs).push('one ');
    run(runs).push('answer');
    run(runs).complete();
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['one answer']));
    expect(runs).toHaveLength(1);
    expect(participants.map((participant) => participant.role)).toEqual([
      'leader',
      ...Array<string>(63).fill('follower'),
    ]);
    expect(telemetry.counts.get('reprise_flight_followers_total')).toBe(63);
    expect(telemetry.counts.get('reprise_flights_total/completed')).toBe(1);
    run(runs).settle();
    await expectNothingLeft();
  });

  it('passes chunks on as they come, to each reader at its own pace', async () => {
    const { runs, join } = setUp();
    const [first, second] = await Promise.all([join(), join()]);
    const quick = first.chunks();
    const waiting = quick.next();
    run(runs).push('a');
    expect(new TextDecoder().decode((await waiting).value as Uint8Array)).toBe('a');
    run(runs).push('b');
    expect(await readOne(quick)).toBe('b');
    run(runs).complete();
    expect(await readOne(quick)).toBe('(end)');
    expect(await readAll(second)).toBe('ab');
  });

  it('gives a late joiner the answer from its beginning', async () => {
    const { runs, join } = setUp();
    const early = await join();
    run(runs).push('begun');
    const late = await join();
    expect(await late.head()).toMatchObject({ contentType: 'text/event-stream', generation: '0' });
    const rest = readAll(late);
    run(runs).push(' ended');
    run(runs).complete();
    expect(await rest).toBe('begun ended');
    expect(await readAll(early)).toBe('begun ended');
  });

  it('can be joined after completion until its store settled, then a new flight begins', async () => {
    const { clock, runs, join, expectNothingLeft } = setUp();
    const first = await join();
    run(runs).push('x');
    run(runs).complete();
    expect(await readAll(first)).toBe('x');
    const late = await join();
    expect(late.role).toBe('follower');
    expect(await readAll(late)).toBe('x');
    run(runs).settle();
    await clock.settle();
    const next = await join();
    expect(next.role).toBe('leader');
    expect(runs).toHaveLength(2);
    next.leave();
    run(runs, 1).fail(new Error('aborted'));
    await expectNothingLeft();
  });

  it('gives a joiner after completion an empty answer as an empty answer', async () => {
    const { clock, runs, join } = setUp();
    const first = await join();
    run(runs).complete();
    await clock.settle();
    expect(await readAll(await join())).toBe('');
    expect(await readAll(first)).toBe('');
  });

  it('waits for a store that never settles only as long as it lingers', async () => {
    const { clock, runs, join, expectNothingLeft } = setUp();
    const first = await join();
    run(runs).complete();
    await readAll(first);
    clock.advance(499);
    expect((await join()).role).toBe('follower');
    clock.advance(1);
    await expectNothingLeft();
  });

  it('keeps ids apart', async () => {
    const { runs, join } = setUp();
    await Promise.all([join(), join({ flightId: 'other' })]);
    expect(runs).toHaveLength(2);
  });
});

describe('leaving', () => {
  it('of the leader disturbs nobody', async () => {
    const { runs, join, expectNothingLeft } = setUp();
    const controller = new AbortController();
    const [leader, follower] = await Promise.all([join({ signal: controller.signal }), join()]);
    run(runs).push('a');
    controller.abort();
    await expect(leader.head()).rejects.toMatchObject({ code: 'cancelled' });
    expect(run(runs).signal.aborted).toBe(false);
    run(runs).push('b');
    run(runs).complete();
    expect(await readAll(follower)).toBe('ab');
    run(runs).settle();
    await expectNothingLeft();
  });

  it('of the leader before its home answered leaves the call to the others', async () => {
    const { runs, join } = setUp();
    const controller = new AbortController();
    const joins = [join({ signal: controller.signal }), join()];
    controller.abort();
    const [, follower] = await Promise.all(joins);
    run(runs).push('a');
    run(runs).complete();
    expect(await readAll(follower as Participant)).toBe('a');
  });

  it('of everybody before the home answered makes no call', async () => {
    const { telemetry, runs, join, expectNothingLeft } = setUp();
    const controller = new AbortController();
    const joins = [join({ signal: controller.signal }), join({ signal: controller.signal })];
    controller.abort();
    for (const participant of await Promise.all(joins)) {
      await expect(participant.head()).rejects.toMatchObject({ code: 'cancelled' });
    }
    expect(runs).toHaveLength(0);
    expect(telemetry.counts.get('reprise_flights_total/aborted')).toBe(1);
    await expectNothingLeft();
  });

  it('of the last participant aborts the call, and a new request begins anew', async () => {
    const { telemetry, runs, join, expectNothingLeft } = setUp();
    const [leader, follower] = await Promise.all([join(), join()]);
    leader.leave();
    leader.leave();
    expect(run(runs).signal.aborted).toBe(false);
    follower.leave();
    expect(run(runs).signal.aborted).toBe(true);
    const next = await join();
    expect(next.role).toBe('leader');
    expect(runs).toHaveLength(2);
    run(runs, 0).fail(run(runs, 0).signal.reason);
    run(runs, 1).complete();
    run(runs, 1).settle();
    expect(await readAll(next)).toBe('');
    expect(telemetry.counts.get('reprise_flights_total/aborted')).toBe(1);
    await expectNothingLeft();
  });

  it('of the last participant lets the call finish where abandoned calls are finished', async () => {
    const { clock, telemetry, runs, join, expectNothingLeft } = setUp({ abandoned: 'finish' });
    (await join()).leave();
    expect(run(runs).signal.aborted).toBe(false);
    run(runs).push('a');
    const late = await join();
    expect(late.role).toBe('follower');
    run(runs).complete();
    await clock.settle();
    expect(await readAll(late)).toBe('a');
    expect(telemetry.counts.get('reprise_flights_total/completed')).toBe(1);
    run(runs).settle();
    await expectNothingLeft();
  });

  it('happens when a loop over the chunks is left', async () => {
    const { runs, join } = setUp();
    const participant = await join();
    run(runs).push('a');
    run(runs).push('b');
    for await (const chunk of participant.chunks()) {
      expect(chunk).toHaveLength(1);
      break;
    }
    expect(run(runs).signal.aborted).toBe(true);
  });

  it('ends a reader’s wait with `cancelled`, never as if the answer were complete', async () => {
    const { join } = setUp();
    const participant = await join();
    const waiting = participant.chunks().next();
    participant.leave();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('by an aborted signal rejects what the participant waits for with `cancelled`', async () => {
    const { join } = setUp();
    const controller = new AbortController();
    const [participant] = await Promise.all([join({ signal: controller.signal }), join()]);
    const waiting = participant.chunks().next();
    controller.abort(new Error('client closed'));
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('before joining is refused', async () => {
    const { runs, join } = setUp();
    await expect(join({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    expect(runs).toHaveLength(0);
  });
});

describe('failing', () => {
  const upstream = new ModelError('model_error', 'The model failed.', { status: 500 });

  it('before the answer began shows in the head of every participant', async () => {
    const { telemetry, join, expectNothingLeft } = setUp();
    const lead: Lead = () => Promise.reject(upstream);
    const participants = await Promise.all([join({ lead }), join({ lead })]);
    for (const participant of participants) {
      await expect(participant.head()).rejects.toBe(upstream);
      await expect(participant.chunks().next()).rejects.toBe(upstream);
    }
    expect(telemetry.counts.get('reprise_flights_total/failed')).toBe(1);
    await expectNothingLeft();
  });

  it('by throwing at once is a failure like any other', async () => {
    const { join, expectNothingLeft } = setUp();
    const participant = await join({
      lead: () => {
        throw upstream;
      },
    });
    await expect(participant.head()).rejects.toBe(upstream);
    await expectNothingLeft();
  });

  it('in the middle gives every reader what came, then the error', async () => {
    const { clock, runs, join, expectNothingLeft } = setUp();
    const [quick, slow] = await Promise.all([join(), join()]);
    const ahead = quick.chunks();
    run(runs).push('a');
    expect(await readOne(ahead)).toBe('a');
    run(runs).push('b');
    run(runs).fail(upstream);
    await clock.settle();
    expect(await readOne(ahead)).toBe('b');
    await expect(ahead.next()).rejects.toBe(upstream);
    const behind = slow.chunks();
    expect([await readOne(behind), await readOne(behind)]).toEqual(['a', 'b']);
    await expect(behind.next()).rejects.toBe(upstream);
    await expectNothingLeft();
  });

  it('is forgotten: the next request calls again', async () => {
    const { clock, runs, join } = setUp();
    const first = await join();
    run(runs).fail(upstream);
    await clock.settle();
    await expect(first.head()).rejects.toBe(upstream);
    expect((await join()).role).toBe('leader');
    expect(runs).toHaveLength(2);
  });

  it('with a cancellation that isn’t the flight’s own reaches nobody as theirs', async () => {
    const { join } = setUp();
    const leads = new Error('aborted by the leader’s connection');
    leads.name = 'AbortError';
    const participant = await join({ lead: () => Promise.reject(leads) });
    await expect(participant.head()).rejects.toMatchObject({ code: 'model_unavailable' });
  });

  it('by ending without an answer is a failure', async () => {
    const { join, expectNothingLeft } = setUp();
    const participant = await join({ lead: () => Promise.resolve({ settled: Promise.resolve() }) });
    await expect(participant.head()).rejects.toMatchObject({ code: 'internal' });
    await expectNothingLeft();
  });

  it('of the store is no failure of the flight', async () => {
    const { clock, join, expectNothingLeft } = setUp();
    const lead: Lead = (sink) => {
      sink.begin({ kind: 'body', contentType: 'application/json', generation: 'g', calledAtMs: 0 });
      return Promise.resolve({ settled: Promise.reject(new Error('store failed')) });
    };
    const participant = await join({ lead });
    await clock.settle();
    expect(await readAll(participant)).toBe('');
    await expectNothingLeft();
  });

  it('to stop after the abort is answered with `cancelled`', async () => {
    const { runs, join, expectNothingLeft } = setUp();
    (await join()).leave();
    expect(() => run(runs).push('late')).toThrowError(expect.objectContaining({ code: 'cancelled' }));
    run(runs).complete();
    run(runs).settle();
    await expectNothingLeft();
  });
});

describe('past the size limit', () => {
  const CHUNK = '12345678';

  it('drops what all have read and stores nothing', async () => {
    const { clock, flights, runs, join } = setUp();
    const participant = await join();
    const text = readAll(participant);
    for (let pushed = 0; pushed < 100; pushed += 1) {
      const room = run(runs).pushOrWait(CHUNK);
      expect(flights.recordingsBytes).toBeLessThanOrEqual(OPTIONS.entryBytesMax + CHUNK.length);
      await room;
      await clock.settle();
    }
    expect(run(runs).sink.overLimit).toBe(true);
    expect(run(runs).sink.recording()).toBeUndefined();
    run(runs).complete();
    expect(await text).toBe(CHUNK.repeat(100));
  });

  it('keeps a recording that just fits whole', async () => {
    const { runs, join } = setUp();
    await join();
    run(runs).push(CHUNK);
    run(runs).push(CHUNK);
    expect(run(runs).sink.overLimit).toBe(false);
    expect(new TextDecoder().decode(run(runs).sink.recording())).toBe(CHUNK + CHUNK);
  });

  it('takes no more joiners: they call alone', async () => {
    const { telemetry, runs, join } = setUp();
    const first = readAll(await join());
    for (let pushed = 0; pushed < 3; pushed += 1) run(runs).push(CHUNK);
    const late = await join();
    expect(late).toMatchObject({ role: 'alone', cause: 'over-limit' });
    run(runs, 1).push('own');
    run(runs, 1).complete();
    run(runs, 0).complete();
    expect(await readAll(late)).toBe('own');
    expect(await first).toBe(CHUNK.repeat(3));
    expect(telemetry.counts.get('reprise_flights_total/alone-over-limit')).toBe(1);
  });

  it('holds the lead back until its slowest reader is within the window', async () => {
    const { clock, runs, join } = setUp();
    const [quick, slow] = await Promise.all([join(), join()]);
    const all = readAll(quick);
    run(runs).push(CHUNK);
    run(runs).push(CHUNK);
    const room = run(runs).pushOrWait('123');
    let open = false;
    void Promise.resolve(room).then(() => {
      open = true;
    });
    const behind = slow.chunks();
    await behind.next();
    await clock.settle();
    expect(open).toBe(false);
    await behind.next();
    await clock.settle();
    expect(open).toBe(true);
    run(runs).complete();
    expect(await all).toBe(`${CHUNK}${CHUNK}123`);
    expect(await readOne(behind)).toBe('123');
    expect(await readOne(behind)).toBe('(end)');
  });

  it('holds the lead back no longer when the slow reader leaves', async () => {
    const { runs, join } = setUp();
    const [quick, slow] = await Promise.all([join(), join()]);
    const all = readAll(quick);
    for (let pushed = 0; pushed < 2; pushed += 1) run(runs).push(CHUNK);
    const room = run(runs).pushOrWait(CHUNK);
    expect(room).toBeInstanceOf(Promise);
    slow.leave();
    await room;
    run(runs).complete();
    expect(await all).toBe(CHUNK.repeat(3));
  });

  it('cuts a reader that takes nothing while another waits for more', async () => {
    const { clock, runs, join, expectNothingLeft } = setUp();
    const [quick, stuck] = await Promise.all([join(), join()]);
    const all = readAll(quick);
    for (let pushed = 0; pushed < 2; pushed += 1) run(runs).push(CHUNK);
    const room = run(runs).pushOrWait(CHUNK);
    await clock.advanceAsync(1_000);
    await room;
    await expect(readAll(stuck)).rejects.toMatchObject({ code: 'model_stream_truncated' });
    expect(run(runs).signal.aborted).toBe(false);
    run(runs).complete();
    run(runs).settle();
    expect(await all).toBe(CHUNK.repeat(3));
    await expectNothingLeft();
  });

  it('doesn’t cut a slow reader that takes something now and then', async () => {
    const { clock, runs, join } = setUp();
    const [quick, slow] = await Promise.all([join(), join()]);
    const all = readAll(quick);
    for (let pushed = 0; pushed < 8; pushed += 1) run(runs).push('1234');
    const behind = slow.chunks();
    for (let taken = 0; taken < 7; taken += 1) {
      await clock.advanceAsync(999);
      expect(await readOne(behind)).toBe('1234');
    }
    run(runs).complete();
    expect(await readOne(behind)).toBe('1234');
    expect(await readOne(behind)).toBe('(end)');
    expect(await all).toBe('1234'.repeat(8));
  });

  it('bears with a reader that holds up nobody else for longer, then aborts the call', async () => {
    const { clock, runs, join } = setUp();
    const only = await join();
    for (let pushed = 0; pushed < 3; pushed += 1) run(runs).push(CHUNK);
    await clock.advanceAsync(9_999);
    expect(run(runs).signal.aborted).toBe(false);
    await clock.advanceAsync(1);
    expect(run(runs).signal.aborted).toBe(true);
    await expect(only.head()).rejects.toMatchObject({ code: 'model_stream_truncated' });
  });

  it('begins early when all recordings together are at their bound', async () => {
    const { flights, runs, join } = setUp({ recordingsBytesMax: 12 });
    await Promise.all([join(), join({ flightId: 'other' })]);
    run(runs, 0).push(CHUNK);
    run(runs, 1).push(CHUNK);
    expect([run(runs, 0).sink.overLimit, run(runs, 1).sink.overLimit]).toEqual([false, true]);
    expect(flights.recordingsBytes).toBe(16);
  });
});

describe('the home', () => {
  const message = { kind: 'join', node: 'elsewhere', flight: 1 };

  it('is asked once for all requests of this node, and gets its ticket back', async () => {
    const { actors, runs, join, expectNothingLeft } = setUp();
    const participants = await Promise.all([join(), join()]);
    expect(actors.activations('flight')).toBe(1);
    for (const participant of participants) participant.leave();
    run(runs).fail(new Error('aborted'));
    await expectNothingLeft();
  });

  it('keeps its ticket for as long as the call takes', async () => {
    const { clock, actors, runs, join, expectNothingLeft } = setUp();
    const participant = await join();
    clock.advance(10 * 60_000);
    expect(actors.activations('flight')).toBe(1);
    run(runs).complete();
    run(runs).settle();
    await readAll(participant);
    await expectNothingLeft();
  });

  it('says when another node leads; then the call is made alone, and counted', async () => {
    const { clock, actors, telemetry, runs, join } = setUp();
    await actors.call('flight', 'id', message, { deadlineAtMs: clock.monotonicMs() + 1 });
    const participant = await join();
    expect(participant).toMatchObject({ role: 'alone', cause: 'led-elsewhere' });
    run(runs).complete();
    expect(await readAll(participant)).toBe('');
    expect(telemetry.counts.get('reprise_flights_total/alone-led-elsewhere')).toBe(1);
  });

  it('gives the ticket of a node that never returned it to another, in time', async () => {
    const { clock, actors, join } = setUp();
    await actors.call('flight', 'id', message, { deadlineAtMs: clock.monotonicMs() + 1 });
    clock.advance(15 * 60_000);
    expect((await join()).role).toBe('leader');
  });

  it('has a bound on its number; past it calls are made alone, and still shared on this node', async () => {
    const { clock, actors, runs, join } = setUp({ flightsMax: 1 });
    await actors.call('flight', 'busy', message, { deadlineAtMs: clock.monotonicMs() + 1 });
    const [first, second] = await Promise.all([join(), join()]);
    expect(first).toMatchObject({ role: 'alone', cause: 'home-full' });
    expect(second).toMatchObject({ role: 'follower', cause: '' });
    expect(runs).toHaveLength(1);
  });

  it('that stopped doesn’t stop a call', async () => {
    const { actors, telemetry, runs, join } = setUp();
    await actors.stop();
    const participant = await join();
    expect(participant).toMatchObject({ role: 'alone', cause: 'home-failed' });
    run(runs).complete();
    run(runs).settle();
    expect(await readAll(participant)).toBe('');
    expect(telemetry.counts.get('reprise_background_failures_total/flight-leave')).toBeUndefined();
  });
});

describe('a slow home', () => {
  /** An actor system whose flight homes answer when the test lets them. */
  function withHome(receive: () => Promise<unknown>, mailboxMax: number) {
    const clock = new ManualClock();
    const telemetry = countingTelemetry();
    class SlowActors extends ActorSystem {
      override register(type: string): void {
        super.register(type, () => ({ receive }), { mailboxMax, idleMs: 1_000, activationsMax: 100 });
      }
    }
    const actors = new SlowActors({ clock, telemetry });
    const flights = new Flights({ actors, clock, telemetry }, OPTIONS);
    return { clock, actors, flights };
  }
  const lead: Lead = (sink) => {
    sink.begin({ kind: 'body', contentType: 'text/plain', generation: 'g', calledAtMs: 0 });
    return Promise.resolve({ settled: Promise.resolve() });
  };
  const signal = new AbortController().signal;

  it('is waited for until the join deadline; the request then calls alone', async () => {
    const { clock, flights } = withHome(() => new Promise(() => undefined), 10);
    const joined = flights.join({ flightId: 'id', signal, lead });
    clock.advance(100);
    const participant = await joined;
    expect(participant).toMatchObject({ role: 'alone', cause: 'join-deadline' });
    expect(await participant.head()).toMatchObject({ kind: 'body' });
  });

  it('with a full mailbox is not waited for at all', async () => {
    const { clock, actors, flights } = withHome(() => new Promise(() => undefined), 0);
    const held = actors.call('flight', 'id', {}, { deadlineAtMs: clock.monotonicMs() + 1 });
    const participant = await flights.join({ flightId: 'id', signal, lead });
    expect(participant).toMatchObject({ role: 'alone', cause: 'mailbox-full' });
    clock.advance(1);
    await expect(held).rejects.toMatchObject({ code: 'actor_timeout' });
  });
});

describe('bounds and the end', () => {
  it('lets requests past the bound call alone', async () => {
    const { telemetry, runs, join } = setUp({ flightsMax: 1 });
    await join();
    const extra = await join({ flightId: 'other' });
    expect(extra).toMatchObject({ role: 'alone', cause: 'flights-full' });
    run(runs, 1).complete();
    expect(await readAll(extra)).toBe('');
    expect(telemetry.counts.get('reprise_flights_total/alone-flights-full')).toBe(1);
  });

  it('counts an aborted call against the bound until its lead returned', async () => {
    const { clock, runs, join } = setUp({ flightsMax: 1 });
    (await join()).leave();
    expect((await join()).cause).toBe('flights-full');
    run(runs, 0).fail(new Error('aborted'));
    await clock.settle();
    expect((await join()).role).toBe('leader');
  });

  it('shares nothing with a request that asks to be alone', async () => {
    const { runs, join } = setUp();
    const alone = await join({ alone: true });
    const other = await join();
    expect(alone).toMatchObject({ role: 'alone', cause: 'asked' });
    expect(other.role).toBe('leader');
    alone.leave();
    expect([run(runs, 0).signal.aborted, run(runs, 1).signal.aborted]).toEqual([true, false]);
  });

  it('ends every flight and refuses joins when the node stops', async () => {
    const { flights, runs, join, expectNothingLeft } = setUp();
    const participant = await join();
    flights.stop();
    await expect(participant.head()).rejects.toMatchObject({ code: 'draining' });
    expect(run(runs).signal.aborted).toBe(true);
    await expect(join()).rejects.toMatchObject({ code: 'draining' });
    run(runs).fail(new Error('aborted'));
    await expectNothingLeft();
  });

  it('leaves no listener on a participant’s signal', async () => {
    const { runs, join } = setUp();
    let listeners = 0;
    const signal = new AbortController().signal;
    const counted = new Proxy(signal, {
      get(target, name) {
        if (name === 'addEventListener') return () => void (listeners += 1);
        if (name === 'removeEventListener') return () => void (listeners -= 1);
        return Reflect.get(target, name, target) as unknown;
      },
    });
    const participants = await Promise.all([join({ signal: counted }), join({ signal: counted })]);
    expect(listeners).toBe(2);
    participants[0].leave();
    run(runs).complete();
    expect(await readAll(participants[1])).toBe('');
    expect(listeners).toBe(0);
  });
});
