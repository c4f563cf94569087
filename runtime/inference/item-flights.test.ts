import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ItemFlights, type FetchTerms } from './item-flights.ts';

interface Call {
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
  answer(settled?: Promise<void>): void;
  fail(error: unknown): void;
}

/** Leads that wait for the test. */
class Leads {
  readonly calls: Call[] = [];

  terms(signal: AbortSignal, alone = false): FetchTerms<string> {
    return {
      alone,
      signal,
      lead: (ids, callSignal) =>
        new Promise((resolve, reject) => {
          const number = this.calls.length;
          this.calls.push({
            ids,
            signal: callSignal,
            answer: (settled = Promise.resolve()) => resolve({ values: ids.map((id) => `${id}${number}`), settled }),
            fail: reject,
          });
        }),
    };
  }
}

const NEVER = new AbortController().signal;

describe('items under way', () => {
  it('are fetched once; who joins waits for the first call, and calls for the rest', async () => {
    const flights = new ItemFlights<string>();
    const leads = new Leads();
    const first = flights.fetch(['a', 'b'], leads.terms(NEVER));
    const second = flights.fetch(['b', 'c'], leads.terms(NEVER));
    expect(leads.calls.map((call) => call.ids)).toEqual([['a', 'b'], ['c']]);
    leads.calls.forEach((call) => call.answer());
    expect([...(await first)]).toEqual([
      ['a', { value: 'a0', led: true }],
      ['b', { value: 'b0', led: true }],
    ]);
    expect((await second).get('b')).toEqual({ value: 'b0', led: false });
    expect((await second).get('c')).toEqual({ value: 'c1', led: true });
  });

  it('are fetched anew once they have come and their store has settled', async () => {
    const flights = new ItemFlights<string>();
    const leads = new Leads();
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    const first = flights.fetch(['a'], leads.terms(NEVER));
    leads.calls[0]?.answer(settled);
    await first;
    expect((await flights.fetch(['a'], leads.terms(NEVER))).get('a')).toEqual({ value: 'a0', led: false });
    settle();
    while (flights.live > 0) await Promise.resolve();
    void flights.fetch(['a'], leads.terms(NEVER));
    expect(leads.calls).toHaveLength(2);
  });

  it('a failure reaches all who wait, and the next asks again', async () => {
    const flights = new ItemFlights<string>();
    const leads = new Leads();
    const both = [1, 2].map(() => flights.fetch(['a'], leads.terms(NEVER)));
    leads.calls[0]?.fail(new Error('broken'));
    for (const result of await Promise.allSettled(both)) expect(result.status).toBe('rejected');
    void flights.fetch(['a'], leads.terms(NEVER));
    expect(leads.calls).toHaveLength(2);
  });

  it('a request that shares nothing neither joins nor is joined', () => {
    const flights = new ItemFlights<string>();
    const leads = new Leads();
    void flights.fetch(['a'], leads.terms(NEVER));
    void flights.fetch(['a'], leads.terms(NEVER, true));
    void flights.fetch(['a'], leads.terms(NEVER));
    expect(leads.calls).toHaveLength(2);
  });
});

describe('whoever leaves', () => {
  it('takes nobody along; the last one aborts the call', async () => {
    const flights = new ItemFlights<string>();
    const leads = new Leads();
    const leaving = [new AbortController(), new AbortController()];
    const both = leaving.map(({ signal }) => flights.fetch(['a'], leads.terms(signal)));
    const settled = Promise.allSettled(both);
    leaving[0]?.abort();
    expect(leads.calls[0]?.signal.aborted).toBe(false);
    leaving[1]?.abort();
    expect(leads.calls[0]?.signal.aborted).toBe(true);
    for (const result of await settled) expect(result).toMatchObject({ reason: { code: 'cancelled' } });
    void flights.fetch(['a'], leads.terms(NEVER));
    expect(leads.calls).toHaveLength(2);
  });

  it('before it came is refused', async () => {
    const leads = new Leads();
    const aborted = AbortSignal.abort();
    await expect(new ItemFlights<string>().fetch(['a'], leads.terms(aborted))).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(leads.calls).toHaveLength(0);
  });
});

it('any mix of requests, answers, failures and leavings: each item has one call at a time, and everybody is served or told', async () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('fetch' as const),
      ids: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
    }),
    fc.record({ do: fc.constantFrom('answer' as const, 'fail' as const, 'leave' as const), at: fc.nat(5) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const flights = new ItemFlights<string>();
      const leads = new Leads();
      const open = new Map<string, Call>();
      const leaving: AbortController[] = [];
      const fetches: Promise<{ missing: readonly string[]; failure: string }>[] = [];
      const ended = (call: Call): void => {
        for (const id of call.ids) if (open.get(id) === call) open.delete(id);
      };
      for (const action of steps) {
        if (action.do === 'fetch') {
          const before = leads.calls.length;
          const left = new AbortController();
          leaving.push(left);
          const { ids } = action;
          fetches.push(
            flights.fetch(ids, leads.terms(left.signal)).then(
              (found) => ({ missing: ids.filter((id) => !found.has(id)), failure: '' }),
              (error: Error) => ({ missing: [], failure: error.message }),
            ),
          );
          for (const call of leads.calls.slice(before)) {
            for (const id of call.ids) {
              expect(open.get(id)?.signal.aborted ?? true).toBe(true);
              open.set(id, call);
            }
          }
        } else if (action.do === 'leave') leaving[action.at]?.abort();
        else {
          const call = leads.calls[action.at];
          if (call === undefined) continue;
          if (action.do === 'answer') call.answer();
          else call.fail(new Error('broken'));
          ended(call);
          await new Promise(setImmediate);
        }
      }
      for (const call of leads.calls) call.answer();
      for (const { missing, failure } of await Promise.all(fetches)) {
        expect(missing).toEqual([]);
        expect(['', 'broken', 'The request was cancelled.']).toContain(failure);
      }
    }),
  );
});
