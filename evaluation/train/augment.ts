import { seededRandom } from '../statistics/random.ts';
import type { MadePair } from './near-pairs.ts';

const WEIGHT = 0.3;
const TYPO_WORD_MIN = 6;
const POLITE = ['Please tell me: ', 'Hi, ', 'Quick question: ', 'Could you help me? ', 'I was wondering, '];
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bI am\b/u, "I'm"],
  [/\bWhat is\b/u, "What's"],
  [/\bdo not\b/u, "don't"],
  [/\bcannot\b/u, "can't"],
  [/\bIt is\b/u, "It's"],
  [/\bI have\b/u, "I've"],
];

/** Harmless changes of texts (case, politeness, a typo, a contraction) as same pairs, and changes of a figure as different ones. */
export function augmentedPairs(texts: readonly string[], share: number, seed: number): readonly MadePair[] {
  const random = seededRandom(seed);
  const made: MadePair[] = [];
  const changes = [lowerCase, politeness, typo, contraction, otherFigure];
  for (const text of texts) {
    if (random() >= share) continue;
    const change = changes[Math.floor(random() * changes.length)]!;
    const changed = change(text, random);
    if (changed === undefined || changed === text) continue;
    const same = change !== otherFigure;
    made.push({ a: text, b: changed, same, category: same ? 'harmless-change' : 'other-figure', weight: WEIGHT });
  }
  return made;
}

function lowerCase(text: string): string {
  return text.toLowerCase().replace(/[?.!]+$/u, '');
}

function politeness(text: string, random: () => number): string {
  return `${POLITE[Math.floor(random() * POLITE.length)] ?? ''}${text}`;
}

function typo(text: string, random: () => number): string | undefined {
  const words = text.split(' ');
  const long = words.flatMap((word, index) => (/^[a-z]+$/u.test(word) && word.length >= TYPO_WORD_MIN ? [index] : []));
  const index = long[Math.floor(random() * long.length)];
  if (index === undefined) return undefined;
  const word = words[index] ?? '';
  const at = 1 + Math.floor(random() * (word.length - 2));
  const dropped = random() < 0.5;
  words[index] = dropped
    ? word.slice(0, at) + word.slice(at + 1)
    : `${word.slice(0, at)}${word[at + 1] ?? ''}${word[at] ?? ''}${word.slice(at + 2)}`;
  return words.join(' ');
}

function contraction(text: string): string | undefined {
  const found = CONTRACTIONS.find(([pattern]) => pattern.test(text));
  return found === undefined ? undefined : text.replace(found[0], found[1]);
}

function otherFigure(text: string, random: () => number): string | undefined {
  return /\d/u.test(text)
    ? text.replace(/\d+/u, (figure) => String(Number(figure) + 1 + Math.floor(random() * 9)))
    : undefined;
}
