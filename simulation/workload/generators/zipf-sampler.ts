import type { Random } from '../../../runtime/ports/random.ts';

/**
 * Ranks 1 … n with probability proportional to rank^-s, in constant time and space: rejection-inversion (W. Hörmann,
 * G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", TOMACS 6(3), 1996).
 */
export class ZipfSampler {
  readonly #random: Random;
  readonly #ranks: number;
  readonly #exponent: number;
  readonly #areaFirst: number;
  readonly #areaAll: number;
  /** Within this distance of its rank a draw is always taken. */
  readonly #sure: number;

  constructor(random: Random, { ranks, exponent }: { readonly ranks: number; readonly exponent: number }) {
    this.#random = random;
    this.#ranks = ranks;
    this.#exponent = exponent;
    this.#areaFirst = this.#area(1.5) - 1;
    this.#areaAll = this.#area(ranks + 0.5);
    this.#sure = 2 - this.#areaInverse(this.#area(2.5) - this.#weight(2));
  }

  next(): number {
    for (;;) {
      const area = this.#areaAll + this.#random.float() * (this.#areaFirst - this.#areaAll);
      const x = this.#areaInverse(area);
      const rank = Math.min(this.#ranks, Math.max(1, Math.round(x)));
      if (rank - x <= this.#sure || area >= this.#area(rank + 0.5) - this.#weight(rank)) return rank;
    }
  }

  #weight(x: number): number {
    return Math.exp(-this.#exponent * Math.log(x));
  }

  /** The area under the weight from 1 to x. */
  #area(x: number): number {
    const log = Math.log(x);
    const power = (1 - this.#exponent) * log;
    return log * (Math.abs(power) > 1e-8 ? Math.expm1(power) / power : 1 + power / 2);
  }

  #areaInverse(area: number): number {
    const power = Math.max(-1, area * (1 - this.#exponent));
    return Math.exp(area * (Math.abs(power) > 1e-8 ? Math.log1p(power) / power : 1 - power / 2));
  }
}
