import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { remembered } from './remembered.ts';
import { isTypo } from './typos.ts';
import { bareWord, wordInfo } from './word-info.ts';
import type { WordInfo } from './word-info.ts';
import { sameRoot } from './word-match.ts';

/** A word that the other text lacks. */
export interface Rest extends WordInfo {
  /** Its place among the words of its text. */
  readonly index: number;
}

/** What is left of two texts when the words that they share are taken away. */
export interface Comparison {
  readonly a: readonly Rest[];
  readonly b: readonly Rest[];
  /** Words that carry meaning, numbers among them, of each text; and how many of them the other text has too. */
  readonly contentA: number;
  readonly contentB: number;
  readonly sharedA: number;
  readonly sharedB: number;
  /** Words of meaning among the rest. */
  readonly restA: number;
  readonly restB: number;
  /** Share of all words, grammar too, that both texts have, in [0, 1]. */
  readonly share: number;
  /** Few words differ: what differs was put there on purpose. */
  readonly near: boolean;
  /** All that one text says the other says too, and more; 1: b says more, -1: a says more, 0: neither. */
  readonly contained: -1 | 0 | 1;
}

/** Texts that differ in more are too far apart for it to matter which of their words mean the same. */
const REST_PAIRS_MAX = 400;
/** More words than an embedder's window has don't count. */
const REST_MAX = 256;
const NEAR_REST_MAX = 3;
const NEAR_SHARE_MIN = 0.5;

let lastA: Features | undefined;
let lastB: Features | undefined;
let lastLexicon: DomainLexicon | undefined;
let last: Comparison | undefined;

/** Compares the words of two texts. The guards of one candidate ask for the same comparison one after the other, so the last one is kept. */
export function compare(a: Features, b: Features, lexicon: DomainLexicon): Comparison {
  if (last !== undefined && lastA === a && lastB === b && lastLexicon === lexicon) return last;
  lastA = a;
  lastB = b;
  lastLexicon = lexicon;
  last = compareOnce(a, b, lexicon);
  return last;
}

function compareOnce(a: Features, b: Features, lexicon: DomainLexicon): Comparison {
  let restA = restOf(a, b);
  let restB = restOf(b, a);
  if (restA.length > 0 && restB.length > 0 && restA.length * restB.length <= REST_PAIRS_MAX) {
    const gone = new Set<Rest>();
    matchRests(restA, restB, lexicon, gone);
    matchCompounds(a, restB, restA, gone);
    matchCompounds(b, restA, restB, gone);
    matchAcronyms(restA, b, restB, gone);
    matchAcronyms(restB, a, restA, gone);
    if (gone.size > 0) {
      restA = restA.filter((rest) => !gone.has(rest));
      restB = restB.filter((rest) => !gone.has(rest));
    }
  }
  return measure(a, b, restA, restB);
}

function measure(a: Features, b: Features, restA: readonly Rest[], restB: readonly Rest[]): Comparison {
  const ofA = countsOf(a);
  const ofB = countsOf(b);
  const contentRestA = contentOf(restA);
  const contentRestB = contentOf(restB);
  const all = Math.max(ofA.words, ofB.words);
  const shared = Math.min(ofA.words - countOf(restA), ofB.words - countOf(restB));
  const share = all === 0 ? 1 : Math.max(0, shared) / all;
  const sharedA = ofA.content - contentRestA;
  const sharedB = ofB.content - contentRestB;
  const more = Math.max(contentRestA, contentRestB);
  return {
    a: restA,
    b: restB,
    contentA: ofA.content,
    contentB: ofB.content,
    sharedA,
    sharedB,
    restA: contentRestA,
    restB: contentRestB,
    share,
    near: more === 0 || (more <= NEAR_REST_MAX && share >= NEAR_SHARE_MIN),
    contained: containedOf(contentRestA, contentRestB, Math.min(sharedA, sharedB)),
  };
}

/** Words but those of courtesy. */
function countOf(rests: readonly Rest[]): number {
  let count = 0;
  for (const rest of rests) if (rest.kind !== 'c') count += 1;
  return count;
}

function contentOf(rests: readonly Rest[]): number {
  let count = 0;
  for (const rest of rests) if (isContent(rest)) count += 1;
  return count;
}

function containedOf(restA: number, restB: number, shared: number): -1 | 0 | 1 {
  if (shared < 1 || (restA === 0) === (restB === 0)) return 0;
  return restA === 0 ? 1 : -1;
}

/** Words of meaning, names and identifiers. */
export function isContent(rest: Rest): boolean {
  return rest.kind === 'w' || rest.kind === 'n' || rest.kind === 'i';
}

function countsOf(features: Features): { words: number; content: number } {
  let words = 0;
  let content = 0;
  for (const kind of features.kinds) {
    if (kind === ',' || kind === 'c') continue;
    words += 1;
    if (kind !== 'f') content += 1;
  }
  return { words, content };
}

function restOf(a: Features, b: Features): readonly Rest[] {
  const rest: Rest[] = [];
  const known = b.stems.length > SCANNED_MAX ? stemsOf(b) : undefined;
  for (let index = 0; index < a.stems.length && rest.length < REST_MAX; index += 1) {
    const wordStem = a.stems[index] ?? '';
    if (wordStem === '' || (known === undefined ? b.stems.includes(wordStem) : known.has(wordStem))) continue;
    const { word, stem, base, kind, sides, scope } = wordInfo(a.words[index] ?? '');
    rest.push({ word, stem, base, kind, sides, scope, index });
  }
  return rest;
}

/** Looking through so few words takes less than making a set of them. */
const SCANNED_MAX = 24;
const stemsOf = remembered(({ stems }: Features): ReadonlySet<string> => new Set(stems));

function matchRests(restA: readonly Rest[], restB: readonly Rest[], lexicon: DomainLexicon, gone: Set<Rest>): void {
  for (const one of restA) {
    if (!isContent(one)) continue;
    const drug = lexicon.drugs.get(one.word);
    const group = lexicon.groupOf.get(one.stem);
    for (const other of restB) {
      if (!isContent(other) || gone.has(other)) continue;
      const known =
        (drug !== undefined && drug === lexicon.drugs.get(other.word)) ||
        (group !== undefined && group === lexicon.groupOf.get(other.stem));
      if (!known && !isFormOf(one, other, lexicon)) continue;
      gone.add(one);
      gone.add(other);
    }
  }
}

/** One word mistyped, or made from the root of the other. */
function isFormOf(one: Rest, other: Rest, lexicon: DomainLexicon): boolean {
  if (isTypo(one.word, other.word, lexicon)) return true;
  return one.kind === 'w' && other.kind === 'w' && sameRoot(one.word, other.word);
}

/** "voice mail" and "voicemail", "Node.js" and "NodeJS": two neighbours of one text, or one with a stop inside, as one word of the other. */
function matchCompounds(own: Features, others: readonly Rest[], rests: readonly Rest[], gone: Set<Rest>): void {
  for (const other of others) {
    if (gone.has(other)) continue;
    const { word } = other;
    const first = word.charCodeAt(0);
    const last = word.charCodeAt(word.length - 1);
    for (const rest of rests) {
      if (first !== rest.word.charCodeAt(0) && last !== rest.word.charCodeAt(rest.word.length - 1)) continue;
      if (!isCompound(own, plainWord(word), rest)) continue;
      gone.add(other);
      gone.add(rest);
    }
  }
}

function isCompound(own: Features, plain: string, rest: Rest): boolean {
  const here = plainWord(rest.word);
  if (plain === here) return true;
  if (plain.length <= here.length) return false;
  if (plain.startsWith(here) && plain === here + plainWord(bareWord(own.words[rest.index + 1] ?? ''))) return true;
  return plain.endsWith(here) && plain === plainWord(bareWord(own.words[rest.index - 1] ?? '')) + here;
}

const JOINERS = /[.\-_/]/u;

function plainWord(word: string): string {
  return JOINERS.test(word) ? word.replace(/[.\-_/]/gu, '') : word;
}

const ACRONYM_LENGTH_MIN = 3;
const ACRONYM_LENGTH_MAX = 5;

/** "APR" and "annual percentage rate". */
function matchAcronyms(rests: readonly Rest[], other: Features, others: readonly Rest[], gone: Set<Rest>): void {
  for (const rest of rests) {
    const { length } = rest.word;
    if (rest.kind !== 'n' || length < ACRONYM_LENGTH_MIN || length > ACRONYM_LENGTH_MAX) continue;
    const from = initialsAt(rest.word, other.words);
    if (from < 0) continue;
    gone.add(rest);
    for (const spelled of others) if (spelled.index >= from && spelled.index < from + length) gone.add(spelled);
  }
}

function initialsAt(acronym: string, words: readonly string[]): number {
  for (let from = 0; from + acronym.length <= words.length; from += 1) {
    let at = 0;
    while (at < acronym.length && bareWord(words[from + at] ?? '')[0] === acronym[at]) at += 1;
    if (at === acronym.length) return from;
  }
  return -1;
}
