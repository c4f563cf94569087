import { CancelSignal } from '../ports/cancel-signal.ts';
import { RepriseError } from '../errors.ts';

/** An item's value, and whether this caller's own call brought it. */
export interface FetchedItem<V> {
  readonly value: V;
  readonly led: boolean;
}

export interface FetchTerms<V> {
  /** Neither join nor be joined. */
  readonly alone: boolean;
  /** The participant's own: aborting it leaves; the call is aborted when the last participant left. */
  readonly signal: AbortSignal;
  /** Calls for these ids at once; one value an id, in order. Until `settled` resolves, newcomers get the same values. */
  readonly lead: (
    ids: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ readonly values: readonly V[]; readonly settled: Promise<void> }>;
}

interface Call<V> {
  readonly signal: CancelSignal;
  readonly values: Promise<ReadonlyMap<string, V>>;
  participants: number;
}

/** Single flight for the items of batches: an id that another batch is fetching is waited for, never fetched twice. */
export class ItemFlights<V> {
  readonly #calls = new Map<string, Call<V>>();

  /** Ids being fetched now. */
  get live(): number {
    return this.#calls.size;
  }

  /** Every id's value. A failed call fails all who waited for it; nobody inherits another's cancellation. */
  async fetch(ids: readonly string[], terms: FetchTerms<V>): Promise<Map<string, FetchedItem<V>>> {
    if (terms.signal.aborted) throw cancelled();
    const joined = new Map<Call<V>, string[]>();
    const own: string[] = [];
    for (const id of ids) {
      const call = terms.alone ? undefined : this.#calls.get(id);
      if (call === undefined) {
        own.push(id);
        continue;
      }
      const callIds = joined.get(call);
      if (callIds === undefined) joined.set(call, [id]);
      else callIds.push(id);
    }
    const led = own.length === 0 ? undefined : this.#start(own, terms);
    if (led !== undefined) joined.set(led, own);
    const results = new Map<string, FetchedItem<V>>();
    await Promise.all(
      [...joined].map(async ([call, callIds]) => {
        const values = await this.#participate(call, terms.signal);
        for (const id of callIds) results.set(id, { value: values.get(id)!, led: call === led });
      }),
    );
    return results;
  }

  #start(ids: readonly string[], terms: FetchTerms<V>): Call<V> {
    const signal = new CancelSignal();
    const answered = terms.lead(ids, signal);
    const values = answered.then(({ values: list }) => new Map(ids.map((id, index) => [id, list[index]!])));
    const call: Call<V> = { signal, values, participants: 0 };
    if (!terms.alone) for (const id of ids) this.#calls.set(id, call);
    const forget = (): void => {
      for (const id of ids) if (this.#calls.get(id) === call) this.#calls.delete(id);
    };
    signal.addEventListener('abort', forget);
    answered.then(({ settled }) => settled).then(forget, forget);
    return call;
  }

  async #participate(call: Call<V>, signal: AbortSignal): Promise<ReadonlyMap<string, V>> {
    call.participants += 1;
    return new Promise((resolve, reject) => {
      let left = false;
      let ended = false;
      const leave = (): void => {
        if (left) return;
        left = true;
        signal.removeEventListener('abort', onAbort);
        call.participants -= 1;
        if (call.participants === 0 && !ended) call.signal.cancel();
      };
      const onAbort = (): void => {
        leave();
        reject(cancelled());
      };
      signal.addEventListener('abort', onAbort);
      call.values.then(
        (values) => {
          ended = true;
          leave();
          resolve(values);
        },
        (error: unknown) => {
          ended = true;
          leave();
          reject(
            error instanceof Error
              ? error
              : new RepriseError('internal', 'An embeddings call failed.', { cause: error }),
          );
        },
      );
    });
  }
}

function cancelled(): RepriseError {
  return new RepriseError('cancelled', 'The request was cancelled.');
}
