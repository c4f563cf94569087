import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Adaptive } from './adaptive.ts';
import type { EvictionPolicy, Resident } from './eviction-policy.ts';
import { POLICY_NAMES, type PolicyName } from '../ports/options.ts';
import { makePolicy } from './policies.ts';

type Step =
  | { readonly act: 'ask'; readonly key: string; readonly bytes: number }
  | { readonly act: 'update'; readonly key: string; readonly bytes: number }
  | { readonly act: 'remove'; readonly key: string }
  | { readonly act: 'clear' };

const BYTES_MAX = 40;

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l');
const bytes = fc.oneof(fc.integer({ min: 0, max: 15 }), fc.constantFrom(0, BYTES_MAX, BYTES_MAX + 1));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ act: fc.constant('ask' as const), key, bytes }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('update' as const), key, bytes }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('remove' as const), key }) },
  { weight: 1, arbitrary: fc.constant({ act: 'clear' as const }) },
);

/** A cache of keys only, as an owner would hold them. */
class Owner {
  readonly residents = new Map<string, Resident>();
  readonly policy: EvictionPolicy;

  constructor(policy: EvictionPolicy) {
    this.policy = policy;
  }

  run(next: Step): void {
    if (next.act === 'clear') {
      this.policy.clear();
      this.residents.clear();
      return;
    }
    const resident = this.residents.get(next.key);
    if (next.act === 'remove') {
      if (resident !== undefined) this.policy.remove(resident);
      this.residents.delete(next.key);
    } else if (resident === undefined) {
      if (next.act === 'update') return;
      this.policy.miss(next.key);
      this.#take(next.key, this.policy.insert(next.key, next.bytes));
    } else if (next.act === 'update') {
      this.#take(next.key, this.policy.update(resident, next.bytes));
    } else {
      this.policy.touch(resident);
    }
  }

  #take(owned: string, admission: ReturnType<EvictionPolicy['insert']>): void {
    for (const victim of admission.victims) {
      expect(this.residents.get(victim.key)).toBe(victim);
      this.residents.delete(victim.key);
    }
    if (admission.resident === undefined) this.residents.delete(owned);
    else this.residents.set(owned, admission.resident);
  }
}

interface ModelItem {
  readonly key: string;
  bytes: number;
  visited: boolean;
}

/** The naive form of a policy: an array from newest to oldest and plain searches. */
abstract class Model {
  items: ModelItem[] = [];

  run(next: Step): void {
    if (next.act === 'clear') {
      this.items = [];
      this.forget();
      return;
    }
    const item = this.items.find((candidate) => candidate.key === next.key);
    if (next.act === 'remove') {
      if (item !== undefined) this.drop(item);
    } else if (item === undefined) {
      if (next.act === 'update' || next.bytes > BYTES_MAX) return;
      while (this.sum() + next.bytes > BYTES_MAX) this.drop(this.victim(undefined));
      this.items.unshift({ key: next.key, bytes: next.bytes, visited: false });
    } else if (next.act === 'ask') {
      this.touch(item);
    } else if (next.bytes > BYTES_MAX) {
      this.drop(item);
    } else {
      this.touch(item);
      while (this.sum() - item.bytes + next.bytes > BYTES_MAX) this.drop(this.victim(item));
      item.bytes = next.bytes;
    }
  }

  keys(): string[] {
    return this.items.map((item) => item.key).toSorted();
  }

  sum(): number {
    return this.items.reduce((total, item) => total + item.bytes, 0);
  }

  drop(item: ModelItem): void {
    this.items.splice(this.items.indexOf(item), 1);
  }

  forget(): void {
    // Nothing but the items to forget.
  }

  abstract touch(item: ModelItem): void;
  abstract victim(keep: ModelItem | undefined): ModelItem;
}

class LruModel extends Model {
  touch(item: ModelItem): void {
    this.drop(item);
    this.items.unshift(item);
  }

  victim(): ModelItem {
    return this.items.at(-1) as ModelItem;
  }
}

class SieveModel extends Model {
  hand: string | undefined = undefined;

  override forget(): void {
    this.hand = undefined;
  }

  touch(item: ModelItem): void {
    item.visited = true;
  }

  victim(keep: ModelItem | undefined): ModelItem {
    let at = this.items.findIndex((item) => item.key === this.hand);
    if (at === -1) at = this.items.length - 1;
    for (;;) {
      const item = this.items[at] as ModelItem;
      if (item !== keep && !item.visited) {
        this.hand = item.key;
        return item;
      }
      if (item !== keep) item.visited = false;
      at = at === 0 ? this.items.length - 1 : at - 1;
    }
  }

  override drop(item: ModelItem): void {
    const at = this.items.indexOf(item);
    if (this.hand === item.key) this.hand = this.items[at - 1]?.key;
    super.drop(item);
  }
}

class FifoModel extends Model {
  touch(): void {
    // An access changes nothing.
  }

  victim(keep: ModelItem | undefined): ModelItem {
    return this.items.findLast((item) => item !== keep) as ModelItem;
  }
}

class LfuModel extends Model {
  readonly counts = new Map<ModelItem, number>();
  /** When an item came to its count. */
  readonly since = new Map<ModelItem, number>();
  #now = 0;

  touch(item: ModelItem): void {
    this.#now += 1;
    this.counts.set(item, this.count(item) + 1);
    this.since.set(item, this.#now);
  }

  victim(keep: ModelItem | undefined): ModelItem {
    const others = this.items.filter((item) => item !== keep).toReversed();
    return others.reduce((least, item) => {
      const difference = this.count(item) - this.count(least) || this.rank(item) - this.rank(least);
      return difference < 0 ? item : least;
    });
  }

  count(item: ModelItem): number {
    return this.counts.get(item) ?? 1;
  }

  rank(item: ModelItem): number {
    return this.since.get(item) ?? -this.items.indexOf(item) - 1e9;
  }
}

const MODELS: Readonly<Partial<Record<PolicyName, () => Model>>> = {
  lru: () => new LruModel(),
  fifo: () => new FifoModel(),
  lfu: () => new LfuModel(),
  sieve: () => new SieveModel(),
  'prefix-lru': () => new LruModel(),
};

const NAMES = POLICY_NAMES;

const numbers = (count: number, of: (at: number) => number): string[] =>
  Array.from({ length: count }, (_, at) => String(of(at)));

const ADVERSARY_REQUESTS = 4_000;

/** The least hits of 4,000 at a bound of 50; policies that aren't named may have none. */
interface Adversary {
  readonly keys: readonly string[];
  /** The most that any policy can have. */
  readonly hitsMax: number;
  readonly hitsMin: Readonly<Partial<Record<PolicyName | 'all', number>>>;
}

/** Traces that hurt. The bounds are what each policy must keep of what it is known for. */
const ADVERSARIES: Readonly<Record<string, Adversary>> = {
  scan: { keys: numbers(ADVERSARY_REQUESTS, (at) => at), hitsMax: 0, hitsMin: {} },
  loop: {
    keys: numbers(ADVERSARY_REQUESTS, (at) => at % 60),
    hitsMax: 3_283,
    hitsMin: {
      lirs: 3_200,
      'w-tinylfu-fixed': 3_200,
      'w-tinylfu': 3_100,
      adaptive: 3_200,
      's3-fifo': 2_200,
      'inference-cost': 1_800,
    },
  },
  'loop that fits': { keys: numbers(ADVERSARY_REQUESTS, (at) => at % 40), hitsMax: 3_960, hitsMin: { all: 3_960 } },
  zigzag: {
    keys: numbers(ADVERSARY_REQUESTS, (at) => Math.abs(((at + 100) % 200) - 100)),
    hitsMax: 1_950,
    hitsMin: {
      fifo: 1_900,
      lru: 1_900,
      lfu: 1_900,
      sieve: 1_900,
      gdsf: 1_900,
      'prefix-lru': 1_900,
      arc: 1_800,
      'inference-cost': 1_800,
      adaptive: 1_800,
      slru: 1_500,
      'w-tinylfu': 1_200,
    },
  },
  // Each key is asked for again once, a moment later: only what is recent is of any use.
  corda: {
    keys: numbers(ADVERSARY_REQUESTS, (at) => (at % 2 === 0 || at < 20 ? at : at - 19)),
    hitsMax: 1_990,
    hitsMin: {
      fifo: 1_990,
      lru: 1_990,
      's3-fifo': 1_990,
      gdsf: 1_990,
      'inference-cost': 1_990,
      'prefix-lru': 1_990,
      arc: 1_970,
      adaptive: 1_970,
    },
  },
  // Each key twice in a row: what came last is there when it is asked for again.
  pairs: { keys: numbers(ADVERSARY_REQUESTS, (at) => Math.floor(at / 2)), hitsMax: 2_000, hitsMin: { all: 2_000 } },
};

describe.each(NAMES)('policy %s', (name) => {
  it('never holds more than its bound, and exactly what its owner holds', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const owner = new Owner(makePolicy(name, BYTES_MAX));
        for (const next of steps) {
          owner.run(next);
          const held = [...owner.residents.values()];
          expect(owner.policy.bytes).toBeLessThanOrEqual(BYTES_MAX);
          expect(owner.policy.bytes).toBe(held.reduce((sum, resident) => sum + resident.bytes, 0));
          expect(owner.policy.size).toBe(held.length);
        }
      }),
    );
  });

  it('does the same for the same steps', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const [first, second] = [new Owner(makePolicy(name, BYTES_MAX)), new Owner(makePolicy(name, BYTES_MAX))];
        for (const next of steps) {
          first.run(next);
          second.run(next);
        }
        expect([...first.residents.keys()]).toEqual([...second.residents.keys()]);
      }),
      { numRuns: 30 },
    );
  });

  it('holds any number of keys without bytes, and still turns out the others', () => {
    const owner = new Owner(makePolicy(name, 4));
    for (let at = 0; at < 500; at += 1) {
      owner.run({ act: 'ask', key: `empty-${at % 50}`, bytes: 0 });
      owner.run({ act: 'ask', key: `full-${at}`, bytes: 1 });
      expect(owner.policy.bytes).toBeLessThanOrEqual(4);
    }
    expect(owner.policy.size).toBeLessThanOrEqual(54);
  });

  it.each(Object.entries(ADVERSARIES))(
    'gets past a %s with no more than its bound, and hits what it must',
    (_, trace) => {
      const owner = new Owner(makePolicy(name, 50));
      let hits = 0;
      for (const asked of trace.keys) {
        if (owner.residents.has(asked)) hits += 1;
        owner.run({ act: 'ask', key: asked, bytes: 1 });
        expect(owner.policy.size).toBeLessThanOrEqual(50);
      }
      expect(hits).toBeGreaterThanOrEqual(trace.hitsMin[name] ?? trace.hitsMin.all ?? 0);
      expect(hits).toBeLessThanOrEqual(trace.hitsMax);
    },
  );

  it('keeps its bound when residents grow and shrink, and lets go what grows past it', () => {
    const owner = new Owner(makePolicy(name, 10));
    for (const asked of ['a', 'b', 'c', 'd', 'e']) owner.run({ act: 'ask', key: asked, bytes: 2 });
    owner.run({ act: 'update', key: 'a', bytes: 0 });
    owner.run({ act: 'ask', key: 'f', bytes: 2 });
    expect(owner.policy.size).toBe(6);
    owner.run({ act: 'update', key: 'f', bytes: 9 });
    expect(owner.policy.bytes).toBeLessThanOrEqual(10);
    expect(owner.residents.get('f')?.bytes).toBe(9);
    owner.run({ act: 'update', key: 'f', bytes: 11 });
    expect(owner.residents.has('f')).toBe(false);
    expect(owner.policy.bytes).toBeLessThanOrEqual(10);
  });

  it('refuses a key that is larger than the bound, without victims', () => {
    const policy = makePolicy(name, 10);
    policy.insert('a', 10);
    expect(policy.insert('b', 11)).toEqual({ resident: undefined, victims: [] });
    expect(policy.size).toBe(1);
  });

  it('refuses sizes that are no number of bytes', () => {
    const policy = makePolicy(name, 10);
    expect(() => policy.insert('a', Number.NaN)).toThrow('Reprise bug');
    expect(() => policy.insert('a', -1)).toThrow('Reprise bug');
    expect(() => policy.insert('a', Infinity)).toThrow('Reprise bug');
  });

  it('refuses to remove what is no longer resident', () => {
    const policy = makePolicy(name, 10);
    const { resident } = policy.insert('a', 1);
    policy.remove(resident as Resident);
    expect(() => policy.remove(resident as Resident)).toThrow('Reprise bug');
  });
});

describe.each(Object.entries(MODELS))('policy %s', (name, makeModel) => {
  it('keeps what its naive model keeps after each step', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const owner = new Owner(makePolicy(name as PolicyName, BYTES_MAX));
        const model = makeModel();
        for (const next of steps) {
          owner.run(next);
          model.run(next);
          expect([...owner.residents.keys()].toSorted()).toEqual(model.keys());
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('policy lru', () => {
  it('keeps in a smaller cache nothing that a larger one lost, for equal sizes', () => {
    const asks = fc.array(key, { maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(asks, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 6 }), (keys, small, more) => {
        const smaller = new Owner(makePolicy('lru', small));
        const larger = new Owner(makePolicy('lru', small + more));
        for (const asked of keys) {
          smaller.run({ act: 'ask', key: asked, bytes: 1 });
          larger.run({ act: 'ask', key: asked, bytes: 1 });
          for (const resident of smaller.residents.keys()) expect(larger.residents.has(resident)).toBe(true);
        }
      }),
    );
  });
});

describe('policy sieve', () => {
  it('keeps a key that is asked for again while a scan passes through', () => {
    const owner = new Owner(makePolicy('sieve', 10));
    owner.run({ act: 'ask', key: 'hot', bytes: 1 });
    for (let at = 0; at < 100; at += 1) {
      owner.run({ act: 'ask', key: `cold-${at}`, bytes: 1 });
      owner.run({ act: 'ask', key: 'hot', bytes: 1 });
    }
    expect(owner.residents.has('hot')).toBe(true);
  });
});

describe('makePolicy', () => {
  it('takes a factory as well as a name', () => {
    const made = makePolicy('lru', 7);
    expect(makePolicy(() => made, 9)).toBe(made);
  });
});

describe('policies that resist a loop', () => {
  it.each(['lirs', 'w-tinylfu-fixed', 'adaptive'] as const)('%s hits half of what the best could', (name) => {
    const owner = new Owner(makePolicy(name, 100));
    let hits = 0;
    for (let at = 0; at < 20_000; at += 1) {
      if (owner.residents.has(String(at % 200))) hits += 1;
      owner.run({ act: 'ask', key: String(at % 200), bytes: 1 });
    }
    expect(hits).toBeGreaterThan(5_000);
  });
});

describe('policy adaptive', () => {
  it('follows LRU on a zigzag, where all others forget what comes next', () => {
    const hitsOf = (name: PolicyName): number => {
      const owner = new Owner(makePolicy(name, 300));
      let hits = 0;
      for (let at = 0; at < 40_000; at += 1) {
        const asked = String(Math.abs(((at + 1_000) % 2_000) - 1_000));
        if (owner.residents.has(asked)) hits += 1;
        owner.run({ act: 'ask', key: asked, bytes: 1 });
      }
      return hits;
    };
    expect(hitsOf('adaptive')).toBeGreaterThan(hitsOf('lru') - 400);
  });

  it('loses no resident when another policy comes in force', () => {
    const policy = new Adaptive<string>(100);
    const residents = new Map<string, Resident>();
    for (let at = 0; at < 20_000; at += 1) {
      // A loop, then a zigzag.
      const asked = String(at < 5_000 ? at % 130 : Math.abs(((at + 400) % 800) - 400));
      const { changes, size } = policy;
      const resident = residents.get(asked);
      if (resident !== undefined) {
        policy.touch(resident);
        expect(policy.size).toBe(size);
        continue;
      }
      const admission = policy.insert(asked, 1);
      for (const victim of admission.victims) residents.delete(victim.key);
      if (admission.resident !== undefined) residents.set(asked, admission.resident);
      if (policy.changes > changes) expect(policy.size).toBe(size === 100 ? 100 : size + 1);
      expect(policy.size).toBe(residents.size);
    }
    expect(policy.changes).toBeGreaterThan(0);
  });
});

describe('policy prefix-lru', () => {
  it('turns out the end of a chain before its beginning', () => {
    const policy = makePolicy('prefix-lru', 4);
    policy.insert('a1', 1);
    policy.insert('a2', 1, { parent: 'a1' });
    policy.insert('a3', 1, { parent: 'a2' });
    policy.insert('b1', 1);
    expect(policy.insert('b2', 1, { parent: 'b1' }).victims.map((victim) => victim.key)).toEqual(['a3']);
    expect(policy.insert('b3', 1, { parent: 'b2' }).victims.map((victim) => victim.key)).toEqual(['a2']);
  });
});

describe.each(['gdsf', 'inference-cost'] as const)('policy %s', (name) => {
  it('keeps what is dear for its bytes', () => {
    const policy = makePolicy(name, 10);
    policy.insert('dear', 5, { cost: 100 });
    policy.insert('cheap', 5, { cost: 1 });
    expect(policy.insert('other', 5, { cost: 10 }).victims.map((victim) => victim.key)).toEqual(['cheap']);
  });
});
