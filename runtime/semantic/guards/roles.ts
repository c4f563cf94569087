import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { ACTOR_WORDS } from '../lexicons/actors.ts';
import { partsChanged } from './agents.ts';
import { compare } from './compare.ts';
import { wordsExchanged } from './exchanged.ts';
import { mostlyKnown } from './language.ts';
import { bareWord } from './word-info.ts';
import { roleUnitsOf } from './role-units.ts';
import type { RoleUnit } from './role-units.ts';
import { remembered } from './remembered.ts';
import { asksDiffer } from './subjects.ts';
import { isDirected, wordsTurned } from './turned.ts';
import { stem } from './word-match.ts';

const SHARE_MIN = 0.5;
const ORDERED_SHARE_MIN = 0.6;
const REST_MAX = 1;
/** Beyond this many words order is too loose to be read. */
const WORDS_MAX = 160;

/** True when hardly anything differs between two texts but who acts on whom, or what comes before what. Symmetric. */
export function rolesSwapped(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const [foreignA, foreignB] = [isForeign(a), isForeign(b)];
  if ((foreignA.foreign || foreignB.foreign) && orderDiffers(a.words, b.words)) return true;
  if ((foreignA.surely || foreignB.surely) && littleWordsDiffer(a.words, b.words)) return true;
  const compared = compare(a, b, lexicon);
  if (compared.share < SHARE_MIN || a.words.length > WORDS_MAX || b.words.length > WORDS_MAX) return false;
  const few = Math.max(compared.restA, compared.restB) <= REST_MAX;
  if (!few && !compared.near) return false;
  if (few && asksDiffer(a.words, b.words)) return true;
  const even = isEven(a).even || isEven(b).even;
  const directed = isEven(a).directed && isEven(b).directed;
  if (few && (!even || directed) && wordsExchanged(a, b)) return true;
  if (few && wordsTurned(a, b, even)) return true;
  if (partsChanged(a, b, even)) return true;
  const unitsA = roleUnitsOf(a);
  const unitsB = roleUnitsOf(b);
  if (rolesExchanged(unitsA, unitsB, { even, few, counted: isCounted(a) !== isCounted(b) })) return true;
  if (!few || compared.share < ORDERED_SHARE_MIN || (isBare(a) && isBare(b))) return false;
  if (orderTurned(unitsA, unitsB, even) || headsExchanged(unitsA, unitsB)) return true;
  return compared.restA + compared.restB === 0 && actorChanged(unitsA, unitsB);
}

/** Not English, or too short and too little known to be sure that it is. */
const isForeign = remembered((features: Features): { readonly foreign: boolean; readonly surely: boolean } => {
  const { language, words } = features;
  const surely = language !== 'en' || words.includes('¿');
  return { surely, foreign: surely || !(isBare(features) || mostlyKnown(words)) };
});

const LONG_CHARACTERS_MIN = 4;
const OTHER_WORDS_MAX = 2;

/**
 * For languages whose grammar isn't known here: nearly the same words, and the longer ones that both have in another order.
 * Who does what to whom may be told by order, by case or by prepositions; none of them can be read, so any change counts.
 */
function orderDiffers(a: readonly string[], b: readonly string[]): boolean {
  if (a.length > WORDS_MAX || b.length > WORDS_MAX) return false;
  const [wordsA, wordsB] = [a.filter(isWord), b.filter(isWord)];
  const [sharedA, sharedB] = [sharedOf(wordsA, wordsB), sharedOf(wordsB, wordsA)];
  if (wordsA.length - sharedA.length > OTHER_WORDS_MAX || wordsB.length - sharedB.length > OTHER_WORDS_MAX)
    return false;
  return sharedA.filter(isLong).join(' ') !== sharedB.filter(isLong).join(' ');
}

/** The same longer words, and other short ones: articles and prepositions that may say who does it ("der Hund", "den Hund"; "a Ana"). */
function littleWordsDiffer(a: readonly string[], b: readonly string[]): boolean {
  if (a.length > WORDS_MAX || b.length > WORDS_MAX) return false;
  const [wordsA, wordsB] = [a.filter(isWord), b.filter(isWord)];
  return wordsA.filter(isLong).join(' ') === wordsB.filter(isLong).join(' ') && wordsA.join(' ') !== wordsB.join(' ');
}

function isWord(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word);
}

function isLong(word: string): boolean {
  return word.length >= LONG_CHARACTERS_MIN || !/^[\p{Script=Latin}]+$/u.test(word);
}

/** Words of a text that another has too, each as often as both have it. */
function sharedOf(words: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  return words.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  });
}

/** Words by which two things stand on equal terms. */
const EVEN = new Set(
  `differ difference differences distance far interact interacts interaction mix mixed combine combined compare compared comparison same similar equal
  compatible together married related near close react reacts match matches pair pairs apart equivalent synonym rhyme rhymes unlike alike versus vs differs different distinguish overlap collide agree meet talk connected correlated correlate along`.split(
    /\s+/u,
  ),
);
const THIRD_PERSONS = new Set(['he', 'she', 'they']);
const EVEN_ROLES = new Set(['', 'with', 'to', 'from', 'as', 'and', 'against']);

/** What is done with two things at once. */
const DONE_WITH = new Set('go goes take taking eat drink wear'.split(' '));

const isEven = remembered(({ words }: Features): { readonly even: boolean; readonly directed: boolean } => {
  const plain = words.map(bareWord);
  const beside = plain.includes('with') || plain.includes('and');
  const isEvenAt = (word: string): boolean => EVEN.has(word) || (beside && DONE_WITH.has(word));
  return { even: plain.some(isEvenAt), directed: !plain.some((word, at) => isEvenAt(word) && !isDirected(plain, at)) };
});

/** Keywords without any grammar: their order says nothing. */
function isBare(features: Features): boolean {
  return !features.kinds.includes('f');
}

interface Move {
  readonly key: string;
  readonly kind: string;
  readonly from: string;
  readonly to: string;
}

/** Two units have changed their parts: "from X to Y" and "from Y to X", "X for Y" and "Y for X". */
function rolesExchanged(
  a: readonly RoleUnit[],
  b: readonly RoleUnit[],
  { even, few, counted }: { readonly even: boolean; readonly few: boolean; readonly counted: boolean },
): boolean {
  const moves = movesOf(a, b);
  if (!even && moves.some(({ from, to }) => (from === 'from' && to === 'to') || (from === 'to' && to === 'from')))
    return true;
  for (let one = 1; one < moves.length; one += 1) {
    for (let two = 0; two < one; two += 1) {
      const first = moves[one];
      const second = moves[two];
      if (first === undefined || second === undefined || first.from !== second.to || first.to !== second.from) continue;
      if (isEvenExchange(first, second, even) || (counted && isConversion(first, second))) continue;
      if (few || (first.from !== '' && first.to !== '')) return true;
    }
  }
  return false;
}

/**
 * Terms that are alike; "X serves as Y"; "the size of X is 5" and "X has a size of 5"; "they" for the people named before; "a card for me" and
 * "can I have a card".
 */
function isEvenExchange(one: Move, two: Move, even: boolean): boolean {
  if (even && EVEN_ROLES.has(one.from) && EVEN_ROLES.has(one.to)) return true;
  const plain = one.from === '' || one.to === '';
  if (one.kind === 'p' ? two.kind !== 'p' : two.kind === 'p') {
    const person = one.kind === 'p' ? one.key : two.key;
    if (THIRD_PERSONS.has(person) || (plain && (one.from === 'for' || one.to === 'for'))) return true;
  }
  if (plain && (one.from === 'as' || one.to === 'as')) return true;
  return plain && (one.from === 'of' || one.to === 'of') && (one.kind === '#') !== (two.kind === '#');
}

function isCounted({ words }: Features): boolean {
  return words.includes('many');
}

/** "5 feet in inches" and, in the other text, "how many inches are in 5 feet". */
function isConversion(one: Move, two: Move): boolean {
  return (one.kind === '#' || two.kind === '#') && (one.from === 'in' || one.to === 'in');
}

const MOVES_MAX = 16;

/** Units whose part is another in `b` than in `a`. */
function movesOf(a: readonly RoleUnit[], b: readonly RoleUnit[]): readonly Move[] {
  const moves: Move[] = [];
  const done = new Set<string>();
  for (const { key, kind } of a) {
    if (kind === 'v' || kind === 's' || done.has(key)) continue;
    done.add(key);
    const move = moveOf({ key, kind }, rolesOf(a, key), rolesOf(b, key));
    if (move !== undefined && moves.length < MOVES_MAX) moves.push(move);
  }
  return moves;
}

function rolesOf(units: readonly RoleUnit[], key: string): string[] {
  const roles: string[] = [];
  for (const unit of units) if (unit.key === key) roles.push(unit.role);
  return roles;
}

/** Both have the unit as often, and all its parts but one are the same. */
function moveOf(unit: Pick<RoleUnit, 'key' | 'kind'>, a: readonly string[], b: string[]): Move | undefined {
  if (a.length !== b.length) return undefined;
  let from: string | undefined;
  for (const role of a) {
    const at = b.indexOf(role);
    if (at >= 0) b.splice(at, 1);
    else if (from === undefined) from = role;
    else return undefined;
  }
  const [to] = b;
  return from === undefined || to === undefined ? undefined : { key: unit.key, kind: unit.kind, from, to };
}

/** "X reduces Y" and "Y reduces X": two units on other sides of a third, all in one phrase. */
function orderTurned(a: readonly RoleUnit[], b: readonly RoleUnit[], even: boolean): boolean {
  const placesA = placesOf(a);
  const placesB = placesOf(b);
  for (const [pivot, pa] of placesA) {
    const pb = placesB.get(pivot);
    if (pb === undefined) continue;
    let toRight = false;
    let toLeft = false;
    for (const [key, xa] of placesA) {
      const xb = placesB.get(key);
      const unit = a[xa];
      if (xb === undefined || unit === undefined || key === pivot || unit.kind === 'v' || unit.kind === 's') continue;
      if (!isOnePhrase(unit, a[pa]) || !isOnePhrase(b[xb], b[pb])) continue;
      if (xa < pa && xb > pb) toRight = true;
      if (xa > pa && xb < pb) toLeft = true;
    }
    if (toRight && toLeft && !(even && EVEN.has(pivot))) return true;
  }
  return false;
}

function isOnePhrase(one: RoleUnit | undefined, two: RoleUnit | undefined): boolean {
  return one !== undefined && two !== undefined && one.group === two.group && one.role === two.role;
}

/** Where each unit stands that a text has exactly once, and where each person comes first. */
const placesOf = remembered((units: readonly RoleUnit[]): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [at, { key, kind }] of units.entries()) {
    if (kind === 'o') continue;
    if (found.has(key)) repeated.add(key);
    if (kind !== 'p' || !found.has(key)) found.set(key, at);
  }
  for (const key of repeated) if (units[found.get(key) ?? 0]?.kind !== 'p') found.delete(key);
  return found;
});

/** People and bodies that act; of other things nothing follows from their side of the verb ("my phone charges", "I charge my phone"). */
const ACTORS = new Set(ACTOR_WORDS.map(stem));

/** "my boss reads my mail", "I read the mail of my boss": an actor on the other side of a verb, and a person come or gone. */
function actorChanged(a: readonly RoleUnit[], b: readonly RoleUnit[]): boolean {
  if (personsIn(a) === personsIn(b)) return false;
  const placesA = placesOf(a);
  const placesB = placesOf(b);
  for (const [key, xa] of placesA) {
    const xb = placesB.get(key);
    if (xb === undefined || a[xa]?.kind === 'p' || !ACTORS.has(key)) continue;
    for (const [verb, va] of placesA) {
      const vb = placesB.get(verb);
      if (vb === undefined || va === xa || a[va]?.group !== a[xa]?.group || b[vb]?.group !== b[xb]?.group) continue;
      if (xa < va !== xb < vb && isVerb(a[va]) && isVerb(b[vb])) return true;
    }
  }
  return false;
}

/** What isn't part of a phrase after a preposition may be a verb. */
function isVerb(unit: RoleUnit | undefined): boolean {
  return unit !== undefined && unit.role === '' && (unit.kind === 'w' || unit.kind === 'v');
}

function personsIn(units: readonly RoleUnit[]): number {
  let count = 0;
  for (const { kind } of units) if (kind === 'p') count += 1;
  return count;
}

/** "arrive by ship and leave by train", "arrive by train and leave by ship": each of two units stands after what the other stood after. */
function headsExchanged(a: readonly RoleUnit[], b: readonly RoleUnit[]): boolean {
  const headsA = headsOf(a);
  const headsB = headsOf(b);
  for (const [one, head] of headsA) {
    const moved = headsB.get(one);
    if (moved === undefined || moved === head) continue;
    for (const [two, other] of headsA) {
      if (other === moved && two !== one && two !== head && one !== other && headsB.get(two) === head) return true;
    }
  }
  return false;
}

/** Unit → the unit before it in its group, of those that a text has exactly once. */
const headsOf = remembered((units: readonly RoleUnit[]): ReadonlyMap<string, string> => {
  const heads = new Map<string, string>();
  const places = placesOf(units);
  for (const [key, at] of places) {
    const unit = units[at];
    const before = units[at - 1];
    if (unit === undefined || before === undefined || before.group !== unit.group || unit.kind === 'p') continue;
    if (places.has(before.key) && before.kind !== 'p') heads.set(key, before.key);
  }
  return heads;
});
