import type { Features } from '../feature-set.ts';
import { FUNCTION_WORDS, STRONG_QUESTION_WORDS } from '../lexicons/grammar.ts';
import { bareWord } from './word-info.ts';

/** Persons and things that were spoken of before. */
const BACKWARD = new Set(
  'it he she him her they them his hers their theirs its that this those these ones former latter'.split(' '),
);
/** After these "it" stands for what follows: "is it safe to", "how long does it take to", "it is possible that". */
const EXPLETIVE_AFTER = new Set(
  `possible safe ok okay fine legal illegal allowed normal necessary true cheaper better best worth bad good dangerous hard easy difficult common
  important harmful take cost mean rain snow rains snows rained cold hot warm sunny raining snowing matter too alright advisable wise healthy
  permitted takes costs feel like worse faster quicker likely usual takes seem seems free called considered acceptable required essential
  rude customary ethical risky bad late early time dark polite appropriate recommended unusual sensible appear appears been saying look looks
  sound sounds turn happen feasible contingent taking`.split(/\s+/u),
);
const AFTER_OPENER = new Set(
  'for if in from with without to about on at who where when why how what which is are does do can will my the during after before =# under between'.split(
    ' ',
  ),
);
const ABOUT_MAX = 6;
const WORDS_MAX = 24;

/**
 * True for a text that only has a meaning after another one: "and for children?", "what about the other one?", "does it come in blue?",
 * "add 20 % to that". Its referent is in a history that the texts compared don't show.
 */
export function isDependent(words: readonly string[]): boolean {
  const plain = withoutEnd(words.map(bareWord));
  if (plain.length === 0 || plain.length > WORDS_MAX) return false;
  const start = startOf(plain);
  if (opensAfterAnother(plain, start) || pointsAside(plain) || asksForMore(plain, start)) return true;
  if (repeatsAnother(plain, start) || takesObject(plain, start)) return true;
  return isAsked(plain, start) && pointsBack(plain, start);
}

function withoutEnd(plain: readonly string[]): readonly string[] {
  let end = plain.length;
  while (end > 0 && (plain[end - 1] === '.' || plain[end - 1] === ',')) end -= 1;
  return end === plain.length ? plain : plain.slice(0, end);
}

/** Past "ok", commas. */
function startOf(plain: readonly string[]): number {
  let at = 0;
  while (at < plain.length && (plain[at] === ',' || plain[at] === '.' || plain[at] === 'ok' || plain[at] === 'okay'))
    at += 1;
  return at;
}

function opensAfterAnother(plain: readonly string[], start: number): boolean {
  const first = plain[start] ?? '';
  const second = plain[start + 1] ?? '';
  const third = plain[start + 2] ?? '';
  if (first === 'even' && second === 'if') return true;
  if (first === 'what' && second === 'if' && BACKWARD.has(third)) return true;
  if (first === 'why' && second === 'not' && plain.length - start <= 3) return true;
  if ((first === 'what' || first === 'how') && second === 'about')
    return !plain.includes('.') && plain.length - start <= ABOUT_MAX + 4;
  if (first !== 'and' && first !== 'but' && first !== 'or') return false;
  return AFTER_OPENER.has(second) || second.startsWith('=') || plain.length - start <= ABOUT_MAX;
}

const ASKED_BY = new Set(
  'what how when where why who which whose do does did is are can could will would should may must now'.split(' '),
);

/** "do the same in red", "does the same apply to staff", "explain the second step", "how many people live there". */
function repeatsAnother(plain: readonly string[], start: number): boolean {
  const same = plain.indexOf('same');
  if (same > 0 && plain[same - 1] === 'the' && !plain.slice(start, same).some(isThing)) {
    const next = plain[same + 1] ?? '';
    if (next === '' || next.startsWith('appl') || FUNCTION_WORDS.has(next) || next === '.') return next !== 'as';
  }
  const things = plain.filter(isThing);
  const ordered = isThing(plain[start] ?? '') ? 2 : 1;
  if (
    things.length > 0 &&
    things.length <= ordered &&
    plain.some((word, at) => picks(word) && plain[at - 1] === 'the' && LISTED.has(plain[at + 1] ?? ''))
  )
    return true;
  const there = plain.at(-1) === 'there' && !/^(?:is|are|was|were|be)$/u.test(plain.at(-2) ?? '');
  return there && things.length <= 2;
}

const LISTED = new Set(
  'step option point item answer question paragraph sentence example part line suggestion'.split(' '),
);

/** "how long should I leave it in the oven", "I tried that already": a verb with an object that wasn't named. */
function takesObject(plain: readonly string[], start: number): boolean {
  const verb = plain.findIndex((word, at) => at >= start && isThing(word));
  const object = plain[verb + 1] ?? '';
  if (verb < 0 || verb - start > VERB_WITHIN || (object !== 'it' && object !== 'them' && object !== 'that'))
    return false;
  if (!plain.slice(start, verb).every((word) => FUNCTION_WORDS.has(word) || word === 'long' || word === 'much'))
    return false;
  const things = plain.slice(verb + 1).filter(isThing).length;
  const ends = plain[verb + 2] ?? '';
  if (object === 'that') return things === 0 || (things === 1 && plain.length <= ABOUT_MAX && !isThing(ends));
  return things <= 1 && !plain.includes(',') && !plain.includes('.');
}

const VERB_WITHIN = 5;

/** A question or an order; "it converts a list to a string" tells something, and is understood as it stands. */
function isAsked(plain: readonly string[], start: number): boolean {
  const first = plain[start] ?? '';
  if (first !== 'it' && first !== 'they' && first !== 'he' && first !== 'she') return true;
  if (plain.some((word) => ASKED_BY.has(word))) return true;
  const says = plain.slice(start + 1).some((word) => EXPLETIVE_AFTER.has(word) || word.startsWith('='));
  return !says && plain.filter(isThing).length <= 1;
}

/** "the second one": one of several that were listed before. */
function pointsAside(plain: readonly string[]): boolean {
  if (plain.length > ABOUT_MAX * 2) return false;
  if (plain[0] === 'same' || (plain[0] === 'the' && plain[1] === 'same' && !isThing(plain[2] ?? ''))) return true;
  if (plain.some((_, at) => isWhichOf(plain, at))) return true;
  return plain.some(
    (word, at) =>
      (word === 'one' || word === 'ones') &&
      plain[at - 2] === 'the' &&
      (picks(plain[at - 1] ?? '') || plain.filter(isThing).length <= (plain[0] === 'yes' ? 2 : 1)),
  );
}

/** "which one", "which of these". */
function isWhichOf(plain: readonly string[], at: number): boolean {
  const next = plain[at + 1];
  if (plain[at] !== 'which' || plain.some(isThingButComparative)) return false;
  return next === 'one' || next === 'ones' || next === 'of';
}

function isThingButComparative(word: string): boolean {
  return isThing(word) && !COMPARATIVE.test(word);
}

const ASIDE_WORDS = new Set(
  'other others last first next previous former latter same =calendar:last =calendar:next'.split(' '),
);

/** A word that picks one of several: "second", "other". */
function picks(word: string): boolean {
  return ASIDE_WORDS.has(word) || /^=#\d+$/u.test(word);
}

/** A pronoun before any thing was named that it could stand for. */
function pointsBack(plain: readonly string[], start: number): boolean {
  for (let at = start; at < plain.length; at += 1) {
    const word = plain[at] ?? '';
    if (word === ',' && at > start + 1) return false;
    if (BACKWARD.has(word)) {
      if (!isPointing(plain, at)) continue;
      return plain[at - 1] === 'do' || !namesOwnThing(plain, at);
    }
    if (isThing(word)) return isRequest(plain, start, at) && pointsLater(plain, at);
  }
  return false;
}

/** "it seems that my card …": what is spoken of comes later. */
function namesOwnThing(plain: readonly string[], at: number): boolean {
  for (let next = at + 1; next < plain.length - 1; next += 1) {
    const word = plain[next] ?? '';
    if ((word === 'my' || word === 'our' || word === 'your') && isThing(plain[next + 1] ?? '')) return true;
  }
  return plain.length - at > POINTED_WORDS_MAX;
}

const POINTED_WORDS_MAX = 12;

/** Nothing but grammar before the verb: an order, or "can you". */
function isRequest(plain: readonly string[], start: number, at: number): boolean {
  return at === start || plain.slice(start, at).every((word) => REQUESTING.has(word));
}

const REQUESTING = new Set('can could would will you please now ok okay just then , and so'.split(' '));

/** After a verb with no object yet: "add 20 % to that", "explain the first one above", "do it for me". */
function pointsLater(plain: readonly string[], at: number): boolean {
  const rest = plain.slice(at + 1);
  const things = rest.filter(isThing).length;
  const last = rest.findLast((word) => word !== '.' && word !== ',') ?? '';
  if (last === 'above' && things <= 2) return true;
  if (things > 1) return false;
  const pointer = rest.findIndex(
    (word, index) => (word === 'that' || word === 'this' || word === 'it' || word === 'them') && isObject(rest, index),
  );
  return (
    pointer >= 0 &&
    (things === 0 || (things === 1 && (last === 'that' || last === 'it' || last === 'this' || last === 'them')))
  );
}

function isObject(rest: readonly string[], at: number): boolean {
  const next = rest[at + 1];
  return (
    next === undefined ||
    next === '.' ||
    next === ',' ||
    FUNCTION_WORDS.has(next) ||
    next === 'now' ||
    next === 'please'
  );
}

/** A word that can be what a pronoun means: neither grammar nor a verb of asking. */
function isThing(word: string): boolean {
  if (word === ',' || word === '.' || word.startsWith('=')) return false;
  return !FUNCTION_WORDS.has(word) && !ASKING.has(word) && /\p{L}/u.test(word);
}

const ASKING = new Set(
  'please tell explain show give say know help does long ok okay hi hello thanks sorry wondering ask describe far else already many much'.split(
    ' ',
  ),
);

function isPointing(plain: readonly string[], at: number): boolean {
  const word = plain[at] ?? '';
  const next = plain[at + 1] ?? '';
  const third = plain[at + 2] ?? '';
  if (word === 'it') return !isExpletive(plain, at) && !isClock(plain, at);
  if (plain[at - 1] === 'do' && word !== 'her' && word !== 'his') return word !== 'this' || !isThing(next);
  if ((word === 'that' || word === 'this') && SUBJECT_AFTER.has(plain[at - 1] ?? ''))
    return !isThing(next) || VERBS.has(next) || TRUE.has(next);
  if (word === 'that' || word === 'this' || word === 'those' || word === 'these') {
    return next === '' || next === '.' || next === ',' || (at === 0 && third !== '' && VERBS.has(next));
  }
  if (word === 'her' || word === 'his' || word === 'their' || word === 'its') return true;
  return (
    word !== 'they' ||
    !(plain.includes('people') || plain.includes('at') || plain[at + 1] === 'say' || plain[at + 1] === 'call')
  );
}

/** "what does that mean", "is that true". */
const SUBJECT_AFTER = new Set('does do did is was are will would can should could'.split(' '));
const TRUE = new Set('true also right correct possible ok okay normal'.split(' '));
const VERBS = new Set(
  'is are was were does do did has have can will would should mean work means works called'.split(' '),
);

function isExpletive(plain: readonly string[], at: number): boolean {
  for (let next = at - 2; next <= at + EXPLETIVE_WITHIN; next += 1) {
    if (next !== at && EXPLETIVE_AFTER.has(plain[next] ?? ''))
      return plain
        .slice(at + 1)
        .some(
          (word) =>
            word === 'to' || word === 'that' || word === 'if' || word === 'for' || word === 'in' || isWeather(plain),
        );
  }
  return (
    plain.slice(at + 1).includes('that') ||
    plain.slice(at + 1).includes('who') ||
    plain[at + 1] === 'from' ||
    plain[at + 2] === 'from'
  );
}

/** "what day is it today", "how is it going", "who is it you work for". */
function isClock(plain: readonly string[], at: number): boolean {
  const next = plain[at + 1] ?? '';
  if (next === 'to' && (plain[at - 1] === 'is' || plain[at - 1] === 'was')) return true;
  if (next === 'be' && plain[0] === 'how' && (plain[at + 2] === 'to' || plain[at + 2] === 'until')) return true;
  if (next === 'going' || plain[at - 1] === 'goes' || next === 'i' || next === 'you' || next === 'we') return true;
  return plain.slice(0, at).some((word) => CLOCKED.has(word)) && plain[at - 1] === 'is' && plain[0] === 'what';
}

const CLOCKED = new Set([
  'time',
  'day',
  'date',
  'year',
  'month',
  'weekday',
  '=unit:time:86400000',
  '=unit:month:12',
  '=unit:month:1',
  '=unit:time:604800000',
]);
const EXPLETIVE_WITHIN = 4;

function isWeather(plain: readonly string[]): boolean {
  return plain.some((word) => /^(?:rain|snow|sunny|cold|hot|warm)/u.test(word));
}

/** "give me three more", "is there a cheaper one", "what else did she write": more of what isn't named. */
function asksForMore(plain: readonly string[], start: number): boolean {
  const rest = plain.slice(start).filter((word) => word !== '.' && word !== ',');
  const things = rest.filter(isThingButComparative).length;
  const last = rest.at(-1) ?? '';
  if (things > 0) return false;
  if (isBareQuestion(rest)) return true;
  return (
    last === 'more' ||
    last === 'one' ||
    last === 'ones' ||
    last === 'another' ||
    last === 'again' ||
    last === 'that' ||
    rest.includes('else') ||
    last === 'there'
  );
}

/** "why not?", "for how long?": a question word and grammar. */
function isBareQuestion(rest: readonly string[]): boolean {
  if (rest.length === 0 || rest.length > BARE_WORDS_MAX || rest.some((word) => SELF.has(word))) return false;
  return (
    rest.some((word) => STRONG_QUESTION_WORDS.has(word)) &&
    rest.every((word) => FUNCTION_WORDS.has(word) || word === 'long' || word === 'much')
  );
}

const BARE_WORDS_MAX = 4;
/** "how are you", "who am I": whoever reads it knows who is meant. */
const SELF = new Set('i you me we us is are'.split(' '));

const COMPARATIVE = /^more$|(?:er|est)$/u;

/** True when either text depends on another one that isn't there: such a text is neither served nor serves. Symmetric. */
export function dependsOnContext(a: Features, b: Features): boolean {
  return a.dependent || b.dependent;
}
