import type { Random } from '../../runtime/ports/random.ts';
import { Digest } from './digest.ts';

const TWO_32 = 2 ** 32;
const WARM_UP_DRAWS = 12;

/**
 * A reproducible Random: sfc32 (Chris Doty-Humphrey's Small Fast Counting generator, from PractRand, public domain), its state
 * made from the seed and the path of fork names. A fork depends on no draw, so a new draw in one part leaves others unchanged.
 */
export class SeededRandom implements Random {
  readonly #path: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    this.#path = seed;
    const digest = new Digest();
    digest.text(seed);
    [this.#a, this.#b] = digest.lanes();
    digest.text(seed);
    [this.#c] = digest.lanes();
    for (let draw = 0; draw < WARM_UP_DRAWS; draw++) this.uint32();
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  float(): number {
    return this.uint32() / TWO_32;
  }

  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#path}/${name.replaceAll('%', '%25').replaceAll('/', '%2F')}`);
  }
}

/** An integer in [least, most]. */
export function integerIn(random: Random, least: number, most: number): number {
  return least + Math.floor(random.float() * (most - least + 1));
}
