import type { Features } from '../feature-set.ts';
import { ACTOR_WORDS } from '../lexicons/actors.ts';
import { BASE_OF } from '../lexicons/irregular.ts';
import { remembered } from './remembered.ts';
import { haveSameWords, slotsOf } from './slots.ts';
import type { Slots } from './slots.ts';
import { isIdentifier } from './word-info.ts';
import { stem } from './word-match.ts';

/**
 * True when two texts have the same words but that two neighbours have changed places and nothing else says that they belong the same way: "is
 * every dog an animal", "is every animal a dog"; "a boat house", "a house boat"; or that the persons in it have: "can others see my profile",
 * "can I see others' profiles". Symmetric.
 */
export function wordsTurned(a: Features, b: Features, even: boolean): boolean {
  const [one, two] = [slotsOf(a), slotsOf(b)];
  if (one.keys.length !== two.keys.length || one.keys.length === 0) return false;
  if (haveSameWords(one, two)) return personsTurned(one, two);
  if (amountsTurned(one, two)) return true;
  if (ownersTurned(one, two) || ownersTurned(two, one)) return true;
  const turn = turnOf(one.keys, two.keys);
  if (turn === undefined) return false;
  if (isOfTurned(one, two)) return true;
  if (even) return false;
  const bare = isBare(one) && isBare(two);
  return bare ? areActors(one, turn) : belongSame(one, two, turn) && !isOrderFree(one, two, turn);
}

/** `[from, middle)` and `[middle, to)` have changed places. */
interface Turn {
  readonly from: number;
  readonly middle: number;
  readonly to: number;
}

function turnOf(one: readonly string[], two: readonly string[]): Turn | undefined {
  const from = one.findIndex((key, at) => key !== two[at]);
  let to = one.length;
  while (to > from && one[to - 1] === two[to - 1]) to -= 1;
  const middle = one.indexOf(two[from] ?? '', from);
  if (from < 0 || middle < 0 || middle >= to || middle - from > BLOCK_MAX || to - middle > BLOCK_MAX) return undefined;
  for (let at = from; at < to; at += 1) {
    const source = at - from + middle;
    if (two[at] !== one[source < to ? source : source - to + from]) return undefined;
  }
  return { from, middle, to };
}

const BLOCK_MAX = 2;
const ARTICLES = new Set('a an the one , .'.split(' '));

/** The little words around the two, and between them, are the same but for articles. */
function belongSame(one: Slots, two: Slots, { from, middle, to }: Turn): boolean {
  if (middle - from !== to - middle) return false;
  for (let slot = from; slot <= to; slot += 1) if (grammarIn(one, slot) !== grammarIn(two, slot)) return false;
  return true;
}

function grammarIn({ slots }: Slots, slot: number): string {
  return (slots[slot] ?? []).filter((word) => !ARTICLES.has(word)).join(' ');
}

const LISTING = new Set(['and', 'or', ',', '/', '&', '+', 'vs', 'versus']);
const MOVABLE = new Set(
  `today tomorrow yesterday now still always also often never ever online offline together again here there soon already yet first later
  safely please only just even away abroad`.split(/\s+/u),
);

/** Lists, adverbs, and what stands before a noun beside others: "a big red car". */
function isOrderFree(one: Slots, two: Slots, { from, middle, to }: Turn): boolean {
  for (let at = from; at < to; at += 1) {
    const word = one.words[at] ?? '';
    if (one.kinds[at] === '#' || MOVABLE.has(word) || isMovableForm(word)) return true;
  }
  for (const text of [one, two]) {
    const between = text.slots[middle] ?? [];
    if (between.some((word) => LISTING.has(word))) return !isCall(text, from);
    const after = text.slots[to] ?? [];
    if (between.length === 0 && after.length === 0 && to < text.keys.length - (isOfBe(text) ? 1 : 0)) return true;
  }
  return false;
}

/** "f(a, b)". */
function isCall({ slots, words }: Slots, from: number): boolean {
  return (
    slots[from]?.at(-1) === ',' && words.slice(from, from + 2).every((word) => word.length === 1 || isIdentifier(word))
  );
}

/** Adverbs; "a lost card", "a card lost". */
function isMovableForm(word: string): boolean {
  return BASE_OF.has(word) || (word.length > 4 && /(?:ly|ed|ing)$/u.test(word));
}

/** "Is a water pump heavy": what comes last is said of the others. */
function isOfBe({ slots }: Slots): boolean {
  const first = slots[0]?.[0];
  return first === 'is' || first === 'are' || first === 'was' || first === 'were';
}

function isBare({ slots }: Slots): boolean {
  return slots.every((slot) => slot.every((word) => ARTICLES.has(word)));
}

const ACTORS = new Set(ACTOR_WORDS.map(stem));

/** "Ann's brother's wife". */
function areActors({ keys }: Slots, { from, to }: Turn): boolean {
  return keys.slice(from, to).every((key) => ACTORS.has(key));
}

/** "The brother of Mary", "Mary the brother of". */
function isOfTurned(one: Slots, two: Slots): boolean {
  const [ends, other] = [endsWithOf(one), endsWithOf(two)];
  return ends !== other && !asksOf(one) && !asksOf(two);
}

function endsWithOf({ slots }: Slots): boolean {
  return slots.at(-1)?.findLast((word) => word !== '.' && word !== ',') === 'of';
}

/** "Of what", "of whom". */
function asksOf({ slots }: Slots): boolean {
  return slots.some((slot) => slot.some((word, at) => word === 'of' && slot[at + 1]?.startsWith('wh') === true));
}

const PERSONS: ReadonlyMap<string, string> = new Map(
  ['i my we our', 'he she they his her their', 'other others someone anyone somebody anybody'].flatMap((row) =>
    row.split(' ').map((word): [string, string] => [word, row.split(' ')[0] ?? '']),
  ),
);

/** All whom a text speaks of by little words, in order. */
const personsIn: (slots: Slots) => readonly string[] = remembered(({ slots }) =>
  slots.flatMap((slot) => slot.map((word) => PERSONS.get(word) ?? '').filter((person) => person !== '')),
);

function personsTurned(one: Slots, two: Slots): boolean {
  const [a, b] = [personsIn(one), personsIn(two)];
  if (a.length !== 2 || b.length !== 2) return false;
  return a[0] !== a[1] && a[0] === b[1] && a[1] === b[0];
}

const SPEAKER = new Set(['i', 'we']);
const OWN = new Set(['my', 'our']);

/** "Can strangers read my posts", "can I read strangers' posts". */
function ownersTurned(theirs: Slots, mine: Slots): boolean {
  const who = theirs.keys[0] ?? '';
  if (isOfSpeaker(theirs) || !isOfSpeaker(mine)) return false;
  const at = mine.keys.indexOf(who);
  if (at < 1 || at + 1 >= mine.keys.length || mine.slots[at + 1]?.length !== 0) return false;
  if (theirs.slots[at + 1]?.some((word) => OWN.has(word)) !== true) return false;
  return mine.keys.filter((_, index) => index !== at).join(' ') === theirs.keys.slice(1).join(' ');
}

function isOfSpeaker({ slots }: Slots): boolean {
  return (slots[0] ?? []).some((word) => SPEAKER.has(word));
}

/** "20 % off 50", "50 % off 20": each amount with the other's unit. */
function amountsTurned(one: Slots, two: Slots): boolean {
  const apart: number[] = [];
  for (const [at, key] of one.keys.entries()) if (key !== two.keys[at]) apart.push(at);
  const [first, second] = apart;
  if (first === undefined || second === undefined || apart.length !== 2) return false;
  const [a, b, c, d] = [
    amountOf(one.keys[first]),
    amountOf(one.keys[second]),
    amountOf(two.keys[first]),
    amountOf(two.keys[second]),
  ];
  if (a === undefined || b === undefined || c === undefined || d === undefined) return false;
  return a.value === d.value && b.value === c.value && a.unit === c.unit && b.unit === d.unit && a.unit !== b.unit;
}

function amountOf(key = ''): { readonly unit: string; readonly value: string } | undefined {
  if (!key.startsWith('=')) return undefined;
  const end = Math.max(key.lastIndexOf(':'), key.lastIndexOf('#'));
  return { unit: key.slice(0, end), value: key.slice(end + 1) };
}

const DIRECTED = new Set(['talk', 'talks', 'react', 'reacts', 'speak', 'speaks']);

/** "Talk to", where one talks and the other listens. */
export function isDirected(words: readonly string[], at: number): boolean {
  return DIRECTED.has(words[at] ?? '') && words[at + 1] === 'to';
}
