import type { Random } from '../../../runtime/ports/random.ts';
import type { SpecValues } from './spec-values.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
const WORKDAYS = 5;

interface ArrivalOptions {
  readonly ratePerSecond: number;
  /** How far the rate swings over a day: 0 not at all, 1 from nothing to twice. */
  readonly daily: number;
  /** What a weekend's rate falls by. */
  readonly weekly: number;
  readonly burstsPerDay: number;
  /** What a burst multiplies the rate with. */
  readonly burstFactor: number;
  readonly burstSeconds: number;
}

/** Reads what a spec says of arrivals. */
export function arrivalOptions(values: SpecValues): ArrivalOptions {
  return {
    ratePerSecond: values.number('rate', 100, { least: 1e-6, most: 1e9 }),
    daily: values.share('daily', 0),
    weekly: values.share('weekly', 0),
    burstsPerDay: values.number('bursts', 0, { most: 10_000 }),
    burstFactor: values.number('burstFactor', 10, { least: 1, most: 10_000 }),
    burstSeconds: values.number('burstSeconds', 60, { most: 86_400 }),
  };
}

/** Times of requests: a Poisson process whose rate follows the hour, the day of the week, and bursts. */
export class Arrivals {
  readonly #random: Random;
  readonly #options: ArrivalOptions;
  #nowMs = 0;
  #burstStartsAtMs: number;
  #burstEndsAtMs = -Infinity;
  #bursts = 0;

  constructor(random: Random, options: ArrivalOptions) {
    this.#random = random;
    this.#options = options;
    this.#burstStartsAtMs = this.#nextBurst();
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Number of the burst that is on, from 0; -1: none. */
  get burst(): number {
    return this.#nowMs < this.#burstEndsAtMs ? this.#bursts - 1 : -1;
  }

  /** What part of a burst's requests there would not be without it. */
  get burstShare(): number {
    return 1 - 1 / this.#options.burstFactor;
  }

  /** Moves on to the next request; gives its time. */
  next(): number {
    const { ratePerSecond, burstFactor, burstSeconds } = this.#options;
    const rate = ratePerSecond * this.season(this.#nowMs) * (this.burst === -1 ? 1 : burstFactor);
    this.#nowMs += exponential(this.#random, SECOND_MS / rate);
    if (this.#nowMs >= this.#burstStartsAtMs) {
      this.#burstEndsAtMs = this.#burstStartsAtMs + burstSeconds * SECOND_MS;
      this.#bursts += 1;
      this.#burstStartsAtMs = this.#nextBurst();
    }
    return this.#nowMs;
  }

  /** What time of day and day of week multiply the rate with; time 0 is a Monday's midnight, when least is asked. */
  season(atMs: number): number {
    const { daily, weekly } = this.#options;
    const day = atMs / DAY_MS;
    const hours = 1 - daily * Math.cos(2 * Math.PI * day);
    const isWeekend = Math.floor(day) % DAYS_OF_WEEK >= WORKDAYS;
    return Math.max(RATE_LEAST, hours * (isWeekend ? 1 - weekly : 1));
  }

  #nextBurst(): number {
    const { burstsPerDay } = this.#options;
    if (burstsPerDay === 0) return Infinity;
    return Math.max(this.#nowMs, this.#burstEndsAtMs) + exponential(this.#random, DAY_MS / burstsPerDay);
  }
}

/** Of the usual rate: time must go on. */
const RATE_LEAST = 0.001;

/** A draw from the exponential distribution. */
export function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random.float()) * mean;
}
