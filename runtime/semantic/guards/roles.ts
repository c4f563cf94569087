import type { Features } from '../features.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { FUNCTION_WORDS } from '../lexicons/grammar.ts';
import { compare } from './compare.ts';
import type { Comparison } from './compare.ts';
import { asksDiffer, personsDiffer } from './subjects.ts';
import { stem } from './word-match.ts';

const ARTICLES = new Set(
  'a an the my your our their his her its this that i you we is are was were be do does did'.split(' '),
);
const COORDINATORS = new Set([',', '&', '/', 'and', 'or', 'nor', 'plus']);
const DIRECTIONS = new Set('from to into onto than for with by before after in on of over under'.split(' '));
const DIRECTIONS_MAX = 24;
/** Pronouns of one person are one word here: who acts on whom shows in their place. */
const PERSON = new Map([
  ['me', 'i'],
  ['us', 'we'],
  ['him', 'he'],
  ['them', 'they'],
]);
/** Beyond this many words order is too loose to be read. */
const WORDS_MAX = 160;
const ELEMENT_WORDS_MAX = 2;

const SWAPPED_SHARE_MIN = 0.75;
const ASKED_SHARE_MIN = 0.5;

/** True when hardly anything differs between two texts but who acts on whom. Symmetric. */
export function rolesSwapped(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const compared = compare(a, b, lexicon);
  if (compared.share < ASKED_SHARE_MIN) return false;
  if (compared.near && directionsSwapped(a.words, b.words)) return segmentsOf(a) !== segmentsOf(b);
  if (Math.max(compared.restA, compared.restB) > 1) return false;
  if (asksDiffer(a.words, b.words)) return segmentsOf(a) !== segmentsOf(b);
  if (compared.share < SWAPPED_SHARE_MIN) return false;
  const certain = !compared.a.some(isPerson) && !compared.b.some(isPerson) && isInOrder(a, b, compared);
  const moved = !certain && rolesDiffer(a.words, b.words);
  return (moved || personsDiffer(a.words, b.words)) && segmentsOf(a) !== segmentsOf(b);
}

function isPerson({ word }: { readonly word: string }): boolean {
  return PERSON.has(word) || word === 'i' || word === 'we' || word === 'he' || word === 'they';
}

/** The words that both texts have stand in one order. */
function isInOrder(a: Features, b: Features, { a: restA, b: restB }: Comparison): boolean {
  let atA = 0;
  let atB = 0;
  let leftA = 0;
  let leftB = 0;
  for (;;) {
    while (atA < a.stems.length && (a.kinds[atA] === ',' || restA[leftA]?.index === atA)) {
      if (restA[leftA]?.index === atA) leftA += 1;
      atA += 1;
    }
    while (atB < b.stems.length && (b.kinds[atB] === ',' || restB[leftB]?.index === atB)) {
      if (restB[leftB]?.index === atB) leftB += 1;
      atB += 1;
    }
    if (atA >= a.stems.length || atB >= b.stems.length) return atA >= a.stems.length && atB >= b.stems.length;
    if (a.stems[atA] !== b.stems[atB]) return false;
    atA += 1;
    atB += 1;
  }
}

const SEGMENT_OPENERS = new Set(
  'if because when while after before since although in on at for with by during without and or'.split(' '),
);

/** The phrases of a text, sorted: texts with the same ones differ in the order of their clauses only. */
function segmentsOf(features: Features): string {
  const segments: string[] = [];
  let segment = '';
  for (const [index, base] of features.stems.entries()) {
    const word = features.words[index] ?? '';
    const opens = SEGMENT_OPENERS.has(word);
    if (word === ',' || word === '.' || opens) {
      if (segment !== '') segments.push(segment);
      segment = opens && word !== 'and' && word !== 'or' ? word : '';
    } else if (!ARTICLES.has(word) || word === 'i' || word === 'you') segment += ` ${base === '' ? word : base}`;
  }
  if (segment !== '') segments.push(segment);
  return segments.sort().join('|');
}

/**
 * True when two texts are made of the same words with two of them on opposite sides of a third: "from A to B" and
 * "from B to A", "A reduces B" and "B reduces A". Moved clauses and reordered lists don't count. Symmetric.
 */
function rolesDiffer(a: readonly string[], b: readonly string[]): boolean {
  if (a.length > WORDS_MAX || b.length > WORDS_MAX) return false;
  const placesA = places(a);
  const placesB = places(b);
  const shared = [...placesA.keys()].filter((word) => placesB.has(word));
  for (const pivot of shared) {
    const at = placesA.get(pivot);
    const bt = placesB.get(pivot);
    if (at === undefined || bt === undefined || at.listed || bt.listed) continue;
    if (isReversedAround({ shared, placesA, placesB, atA: at.index, atB: bt.index })) return true;
  }
  return false;
}

/** True when the words after two prepositions of direction have changed places. */
function directionsSwapped(a: readonly string[], b: readonly string[]): boolean {
  const ofA = directions(a);
  const ofB = directions(b);
  for (const one of ofA) {
    for (const two of ofA) {
      if (one.preposition === two.preposition || one.word === two.word) continue;
      if (has(ofB, one.preposition, two.word) && has(ofB, two.preposition, one.word)) return true;
    }
  }
  return false;
}

interface Direction {
  readonly preposition: string;
  readonly word: string;
}

function directions(words: readonly string[]): readonly Direction[] {
  const found: Direction[] = [];
  for (const [index, preposition] of words.entries()) {
    if (!DIRECTIONS.has(preposition)) continue;
    const word = words.slice(index + 1, index + 4).find((next) => !ARTICLES.has(next));
    if (word !== undefined && found.length < DIRECTIONS_MAX)
      found.push({ preposition, word: stem(word.replace('^', '')) });
  }
  return found;
}

function has(directed: readonly Direction[], preposition: string, word: string): boolean {
  return directed.some((other) => other.preposition === preposition && other.word === word);
}

interface Place {
  readonly index: number;
  /** Stands beside a comma, "and" or "or": an element of a list, whose order says nothing. */
  readonly listed: boolean;
  readonly content: boolean;
}

interface Pivot {
  readonly shared: readonly string[];
  readonly placesA: ReadonlyMap<string, Place>;
  readonly placesB: ReadonlyMap<string, Place>;
  readonly atA: number;
  readonly atB: number;
}

function isReversedAround(pivot: Pivot): boolean {
  let toRight = false;
  let toLeft = false;
  for (const word of pivot.shared) {
    const a = pivot.placesA.get(word);
    const b = pivot.placesB.get(word);
    if (a === undefined || b === undefined || !a.content) continue;
    if (a.index < pivot.atA && b.index > pivot.atB) toRight = true;
    if (a.index > pivot.atA && b.index < pivot.atB) toLeft = true;
  }
  return toRight && toLeft;
}

/** Where each word stands that a text has exactly once. */
function places(words: readonly string[]): ReadonlyMap<string, Place> {
  const found = new Map<string, Place | undefined>();
  for (const [index, marked] of words.entries()) {
    if (marked === ',' || marked === '.') continue;
    const word = marked.length > 1 && marked.startsWith('^') ? marked.slice(1) : marked;
    if (COORDINATORS.has(word) || (ARTICLES.has(word) && word !== 'i')) continue;
    const name = PERSON.get(word) ?? stem(word);
    const content = !FUNCTION_WORDS.has(word) || PERSON.has(word) || name === 'i';
    found.set(name, found.has(name) ? undefined : { index, listed: isListed(words, index), content });
  }
  const single = new Map<string, Place>();
  for (const [name, place] of found) if (place !== undefined) single.set(name, place);
  return single;
}

function isListed(words: readonly string[], index: number): boolean {
  return isNearCoordinator(words, index, -1) || isNearCoordinator(words, index, 1);
}

/** Looks in a direction past articles, numbers and one more word: elements of lists are often two words long. */
function isNearCoordinator(words: readonly string[], index: number, step: number): boolean {
  let passed = 0;
  for (let at = index + step; at >= 0 && at < words.length && passed < ELEMENT_WORDS_MAX; at += step) {
    const word = words[at] ?? '';
    if (COORDINATORS.has(word)) return true;
    if (!ARTICLES.has(word) && !word.startsWith('=')) passed += 1;
  }
  return false;
}
