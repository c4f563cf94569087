import { randomBytes } from 'node:crypto';
import type { Random } from '../ports/random.ts';

const BUFFER_BYTES = 4_096;

/** Unpredictable randomness; forks are independent because nothing is seeded. */
export class SystemRandom implements Random {
  #buffer = randomBytes(BUFFER_BYTES);
  #offset = 0;

  uint32(): number {
    if (this.#offset + 4 > BUFFER_BYTES) {
      this.#buffer = randomBytes(BUFFER_BYTES);
      this.#offset = 0;
    }
    const value = this.#buffer.readUInt32LE(this.#offset);
    this.#offset += 4;
    return value;
  }

  float(): number {
    return this.uint32() / 2 ** 32;
  }

  fork(): Random {
    return new SystemRandom();
  }
}
