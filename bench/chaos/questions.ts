import { createHash } from 'node:crypto';

/** What a request asks, and where: `node` 0 or 1. */
export interface Ask {
  readonly text: string;
  readonly node: 0 | 1;
}

/** Questions that are asked again and again, for each request a second: a cold cache has them after some seconds. */
const POPULAR_SHARE = 1 / 3;
const POPULAR_MIN = 10;
/** Of five requests, one is new, one repeats what the other node was asked a while ago, and three are popular. */
const SLOTS = 5;
const SLOT_NEW = 3;
const SLOT_AGAIN = 4;
/** For how long a new question has been asked when it is repeated. */
const AGAIN_AFTER_MS = 2_000;
const WORDS_OF_DIGEST = 20;

/** Share of hits when nothing is wrong. */
export const HIT_RATE = (SLOTS - 1) / SLOTS;

/** The only right answer to a question, of about 1.3 KB; upstream and generator both know it. */
export function answerTo(text: string): string {
  return createHash('sha256').update(text).digest('hex').concat(' ').repeat(WORDS_OF_DIGEST).trimEnd();
}

/** The body of a chat completion request. */
export function bodyOf(text: string): string {
  return JSON.stringify({ model: 'chaos', temperature: 0, messages: [{ role: 'user', content: text }] });
}

/**
 * Questions in the order of asking, the same for the same name and rate. Repeats go to the node that did not get the
 * question, so that its answer is in no near cache there: each needs the grid.
 */
export class Questions {
  readonly #name: string;
  readonly #lag: number;
  readonly #cumulated: readonly number[];
  #asked = 0;
  #state = 0x2545f491;

  constructor(name: string, ratePerSecond: number) {
    this.#name = name;
    this.#lag = Math.max(1, Math.round((ratePerSecond / SLOTS) * (AGAIN_AFTER_MS / 1_000)));
    let sum = 0;
    const popular = Math.max(POPULAR_MIN, Math.round(ratePerSecond * POPULAR_SHARE));
    // The n-th is asked about 1/n as often as the first.
    this.#cumulated = Array.from({ length: popular }, (_, index) => (sum += 1 / (index + 1)));
  }

  next(): Ask {
    const index = this.#asked;
    this.#asked += 1;
    const slot = index % SLOTS;
    const round = (index - slot) / SLOTS;
    if (slot === SLOT_NEW) return this.#fresh(round, 0);
    if (slot === SLOT_AGAIN && round >= this.#lag) return this.#fresh(round - this.#lag, 1);
    return { text: `${this.#name}: popular question ${this.#popular()}`, node: this.#float() < 0.5 ? 0 : 1 };
  }

  #fresh(round: number, other: 0 | 1): Ask {
    return { text: `${this.#name}: question ${round} of its kind`, node: ((round + other) % 2) as 0 | 1 };
  }

  #popular(): number {
    const drawn = this.#float() * (this.#cumulated.at(-1) ?? 0);
    return this.#cumulated.findIndex((sum) => sum >= drawn);
  }

  #float(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }
}
