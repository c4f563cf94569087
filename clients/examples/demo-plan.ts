import { integerIn, SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import type { Family, TrapKind } from './demo-family.ts';

/** One request of the demo. */
export interface Ask {
  readonly text: string;
  /** Requests with the same meaning may share an answer; no others may. */
  readonly meaning: string;
  readonly role: 'question' | 'rephrasing' | TrapKind;
  readonly streamed: boolean;
}

/** Requests that leave at the same time: one, or identical ones. */
export type Step = readonly Ask[];

const QUESTION_TIMES = 4;
const OTHER_TIMES = 2;
/** Every so many families begin with several identical requests at once. */
const BURST_EVERY = 4;
const BURST_SIZE = 4;
/** Every so many requests are streamed. */
const STREAMED_EVERY = 5;

/** The demo's requests in an order that the seed decides: each question, its rephrasings and its traps several times. */
export function planSteps(families: readonly Family[], seed: string): Step[] {
  const random = new SeededRandom(seed).fork('demo-order');
  const steps: Step[] = [];
  let requests = 0;
  const ask = (text: string, meaning: string, role: Ask['role']): Ask => {
    requests += 1;
    return { text, meaning, role, streamed: requests % STREAMED_EVERY === 0 };
  };
  for (const { question, rephrasings, traps } of families) {
    for (let time = 0; time < QUESTION_TIMES; time += 1) steps.push([ask(question, question, 'question')]);
    for (let time = 0; time < OTHER_TIMES; time += 1) {
      for (const text of rephrasings) steps.push([ask(text, question, 'rephrasing')]);
      for (const [kind, text] of traps) steps.push([ask(text, text, kind)]);
    }
  }
  shuffle(steps, random);
  families.forEach(({ question }, index) => {
    if (index % BURST_EVERY !== 0) return;
    const first = steps.findIndex(([opening]) => opening?.meaning === question);
    const burst = Array.from({ length: BURST_SIZE }, () => ask(question, question, 'question'));
    steps.splice(first, 0, burst);
  });
  return steps;
}

function shuffle<T>(items: T[], random: SeededRandom): void {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = integerIn(random, 0, index);
    const [a, b] = [items[index], items[other]];
    if (a === undefined || b === undefined) continue;
    items[index] = b;
    items[other] = a;
  }
}
