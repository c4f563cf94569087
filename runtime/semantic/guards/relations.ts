import {
  areEvenRelations,
  EVEN_BEFORE_NUMBERS,
  MEANS_OF_DOING,
  OPTIONAL_AT_END,
  OPTIONAL_BEFORE_NUMBER,
  OPTIONAL_RELATIONS,
  PARTICLE_VERBS,
  PLACES_OF_THINGS,
  RELATIONS,
  REMEDIES,
} from '../lexicons/little-words.ts';
import { remembered } from './remembered.ts';
import type { Slots } from './slots.ts';
import { baseOf } from './word-match.ts';

/** A relation, and the slot that it stands in. */
interface Relation {
  readonly word: string;
  readonly slot: number;
}

const PERSONS_AFTER = new Set('me us mine yours myself you yourself'.split(' '));
const OPENED_BY = new Set('is are was were be been being get gets got getting go goes going give show'.split(' '));
const CLAUSE_WORDS = new Set(
  `i you we they he she it is are was were do does did can could will would should must may have has had not how what when where why who which
  there this that my to if`.split(/\s+/u),
);

/** The relations of a text, in order, but those that only open an order ("help with", "tell me about") or belong to its asker ("for me"). */
const relationsOf: (slots: Slots) => readonly Relation[] = remembered(({ slots }) => {
  const found: Relation[] = [];
  for (const [slot, words] of slots.entries()) {
    for (const [at, word] of words.entries()) {
      if (!RELATIONS.has(word) || PERSONS_AFTER.has(words[at + 1] ?? '') || isOpening(words, at, slot)) continue;
      found.push({ word, slot });
    }
  }
  return found;
});

function isOpening(words: readonly string[], at: number, slot: number): boolean {
  const before = words[at - 1] ?? '';
  if (words[at] === 'about' && (before.startsWith('go') || words[at + 1] === 'to')) return true;
  return (
    slot === 0 &&
    before !== 'everyone' &&
    !BOUNDING.has(words[at] ?? '') &&
    !(OPENED_BY.has(before) || MOVING.has(before) || (at === 0 && words.length > 1 && ASKED.has(words[1] ?? '')))
  );
}

/** They open a clause or a span, wherever they stand. */
const BOUNDING = new Set('before after until since without while during because against'.split(' '));
const ASKED = new Set('which what whom who'.split(' '));

/** For texts with the same words of meaning in the same order: true when they stand to each other in another way. Symmetric. */
export function relationsDiffer(a: Slots, b: Slots): boolean {
  const [restA, restB] = unshared(relationsOf(a), relationsOf(b));
  for (const one of restA) {
    const at = restB.findIndex((two) => two.slot === one.slot || isStranded(one, a) || isStranded(two, b));
    const two = restB[at];
    if (two === undefined ? !isOptional(one, a, b) : !areEven(one.word, two.word, [a, b], Math.min(one.slot, two.slot)))
      return true;
    if (two !== undefined) restB.splice(at, 1);
  }
  return restB.some((two) => !isOptional(two, b, a));
}

/** At the very end: "which zone is Rome in". */
function isStranded({ word, slot }: Relation, { keys, slots }: Slots): boolean {
  return slot === keys.length && OPTIONAL_AT_END.has(word) && isLastWord(word, slots[slot] ?? []);
}

/** What is left when the relations that both texts have in one slot drop out, and those that have moved: "turn on the tap", "turn the tap on". */
function unshared(a: readonly Relation[], b: readonly Relation[]): [readonly Relation[], Relation[]] {
  const left = [...b];
  const near = a.filter((one) => !take(left, (two) => two.word === one.word && two.slot === one.slot));
  return [near.filter((one) => !take(left, (two) => two.word === one.word && hasMoved(one, two))), left];
}

function take(relations: Relation[], fits: (relation: Relation) => boolean): boolean {
  const at = relations.findIndex(fits);
  if (at >= 0) relations.splice(at, 1);
  return at >= 0;
}

const MOVING = new Set('up out off down over on in around back away along'.split(' '));
const MOVED_SLOTS_MAX = 3;

function hasMoved(one: Relation, two: Relation): boolean {
  if (one.slot === 0 || two.slot === 0) return true;
  return MOVING.has(one.word) && Math.abs(one.slot - two.slot) <= MOVED_SLOTS_MAX;
}

/** One may stand for the other in a slot of texts with the same words of meaning. */
function areEven(one: string, two: string, [a, b]: readonly [Slots, Slots], slot: number): boolean {
  if (a.kinds[slot] === '#') {
    if (/^=(?:calendar|clock|date)/u.test(a.keys[slot] ?? '')) return EVEN_BEFORE_NUMBERS.has(`${one}-${two}`);
    if (/^=(?:time|month):/u.test(a.keys[slot] ?? '')) return one + two === 'inwithin' || one + two === 'withinin';
    if (one + two === 'toat' || one + two === 'atto') return true;
    return areEvenRelations(one, two) && !SCHEDULED.has(one) && !SCHEDULED.has(two);
  }
  if (LOCATING.has(one) && LOCATING.has(two) && (isPlace(a.words[slot]) || isPlace(b.words[slot]))) return false;
  if (isJoining(one) && isJoining(two))
    return (a.slots[slot] ?? []).some(opensClause) || (b.slots[slot] ?? []).some(opensClause);
  return areEvenRelations(one, two) || isOfMeans(`${one} ${two}`, a, slot) || isOfMeans(`${one} ${two}`, b, slot);
}

/** "Pay by card", "pay with a card"; a vaccine for the flu is one against it; "how do I do it in Java", "with Java". */
function isOfMeans(pair: string, { words, slots }: Slots, slot: number): boolean {
  if (pair === 'by with' || pair === 'with by')
    return words.slice(slot, slot + 3).some((word) => MEANS_OF_DOING.has(word));
  if (pair === 'for against' || pair === 'against for') return REMEDIES.has(words[slot - 1] ?? '');
  return (
    (pair === 'in with' || pair === 'with in') && slots[0]?.some((word) => word === 'how' || word === 'way') === true
  );
}

const SCHEDULED = new Set(['for', 'by', 'at']);
const LOCATING = new Set(['in', 'on', 'at']);

function isJoining(word: string): boolean {
  return word === 'and' || word === 'but';
}

function isPlace(word = ''): boolean {
  return PLACES_OF_THINGS.has(word) || (word.endsWith('s') && PLACES_OF_THINGS.has(word.slice(0, -1)));
}

function isLastWord(word: string, words: readonly string[]): boolean {
  return words.findLast((last) => last !== '.' && last !== ',') === word;
}

const JOINING_CLAUSES = new Set('because since while and but or'.split(' '));

/** Said or not, the text means the same. */
function isOptional({ word, slot }: Relation, own: Slots, other: Slots): boolean {
  const there = other.slots[slot] ?? [];
  const here = own.slots[slot] ?? [];
  if (JOINING_CLAUSES.has(word)) return isOptionalJoint(word, slot, own, there);
  if (isWithVerb(word, slot, own)) return true;
  const last = slot === own.keys.length;
  if (slot === 0 && here[0] === word && ASKED.has(here[1] ?? '')) return true;
  if (last && !isLastWord(word, here)) return OPTIONAL_RELATIONS.has(word) || OPTIONAL_AT_END.has(word);
  if (last) return OPTIONAL_AT_END.has(word) && !endsWithParticle(word, here, own);
  if (word === 'for' && there.includes('if')) return true;
  if (own.kinds[slot] === '#') return OPTIONAL_BEFORE_NUMBER.has(word) || OPTIONAL_RELATIONS.has(word);
  return OPTIONAL_RELATIONS.has(word);
}

function isOptionalJoint(word: string, slot: number, own: Slots, there: readonly string[]): boolean {
  const here = own.slots[slot] ?? [];
  const after = here.slice(here.lastIndexOf(word) + 1);
  if (word === 'but' && after.length > 0 && after.every((next) => EXCEPTED.has(next))) return false;
  const joins = after.some(opensClause) || slot === own.keys.length;
  if (there.includes(',') || there.includes('.')) return joins || word === 'and';
  return word === 'and' || (joins && word !== 'or');
}

/** "All tabs but this one". */
const EXCEPTED = new Set('this that these those the one ones me you him her them mine yours . ,'.split(' '));

function opensClause(word: string): boolean {
  return CLAUSE_WORDS.has(word);
}

/** "Turn it on", "log in": it stands with the verb. */
function endsWithParticle(word: string, here: readonly string[], { slots }: Slots): boolean {
  return (word === 'on' || word === 'in') && here[0] === word && !ASKED.has(slots[0]?.[0] ?? '');
}

const VERBS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...PARTICLE_VERBS].map(([particle, verbs]) => [particle, new Set([...verbs].map(baseOf))]),
);
const VERB_WITHIN = 4;

/** "Build up" and "build". */
function isWithVerb(word: string, slot: number, { words }: Slots): boolean {
  const verbs = VERBS.get(word);
  if (verbs === undefined) return false;
  for (let at = slot - 1; at >= 0 && at >= slot - VERB_WITHIN; at -= 1)
    if (verbs.has(baseOf(words[at] ?? ''))) return true;
  return false;
}
