import type { IntentText } from '../pairs/known-data.ts';
import type { Neighbours } from './neighbours.ts';

/** How sure a policy is that the answer to the stored question serves the asked one, both by position. */
export type StreamScore = (asked: number, stored: number, similarity: number) => number;

export interface StreamOptions {
  readonly candidatesMax: number;
  /** Questions of this intent have no right hit. */
  readonly outOfScope: string;
}

/** What became of all questions at one threshold. */
export interface StreamPoint {
  readonly threshold: number;
  readonly requests: number;
  readonly hits: number;
  readonly wrong: number;
}

/**
 * A cache that begins empty and is asked each question once: the nearest candidate whose score reaches the threshold is served, a
 * question that none serves is stored. A hit is right when both questions have one intent and it isn't out of scope.
 */
export class Stream {
  readonly #questions: readonly IntentText[];
  readonly #neighbours: Neighbours;
  readonly #options: StreamOptions;

  constructor(questions: readonly IntentText[], neighbours: Neighbours, options: StreamOptions) {
    this.#questions = questions;
    this.#neighbours = neighbours;
    this.#options = options;
  }

  /** Runs all questions past one threshold. `onHit` is told of each hit. */
  run(
    score: StreamScore,
    threshold: number,
    onHit?: (hit: { asked: number; stored: number; similarity: number; right: boolean }) => void,
  ): StreamPoint {
    const { candidatesMax, outOfScope } = this.#options;
    const stored = new Uint8Array(this.#questions.length);
    let hits = 0;
    let wrong = 0;
    for (const [asked, { intent }] of this.#questions.entries()) {
      const candidates = this.#neighbours.nearest(asked, candidatesMax, (at) => stored[at] === 1);
      const served = candidates.find(({ at, similarity }) => score(asked, at, similarity) >= threshold);
      if (served === undefined) {
        stored[asked] = 1;
        continue;
      }
      const right = this.#questions[served.at]?.intent === intent && intent !== outOfScope;
      hits += 1;
      if (!right) wrong += 1;
      onHit?.({ asked, stored: served.at, similarity: served.similarity, right });
    }
    return { threshold, requests: this.#questions.length, hits, wrong };
  }
}

/** The threshold at which a stream has the wanted share of hits, by bisection between `low` (more hits) and `high` (fewer). */
export function pointAtHitShare(
  run: (threshold: number) => StreamPoint,
  hitShare: number,
  [low, high]: readonly [number, number],
): StreamPoint {
  const STEPS = 24;
  let [from, to] = [low, high];
  let best: StreamPoint | undefined;
  for (let step = 0; step < STEPS; step += 1) {
    const point = run((from + to) / 2);
    const excess = point.hits - hitShare * point.requests;
    const bestExcess = best === undefined ? Infinity : best.hits - hitShare * best.requests;
    if (Math.abs(excess) < Math.abs(bestExcess)) best = point;
    if (excess > 0) from = (from + to) / 2;
    else to = (from + to) / 2;
  }
  return best ?? run(high);
}
