import { remembered } from './remembered.ts';
import { haveSameWords } from './slots.ts';
import type { Slots } from './slots.ts';

/** Allowed, bound, advised. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ...'can could may might'.split(' ').map((word): [string, string] => [word, 'may']),
  ...'must'.split(' ').map((word): [string, string] => [word, 'must']),
  ...'should shall ought'.split(' ').map((word): [string, string] => [word, 'should']),
]);
const BOUND_AFTER = new Set(['have', 'has', 'need', 'needs']);
const DO = new Set(['do', 'does', 'did']);
const SUBJECTS = new Set('i we you he she they it one anyone someone others'.split(' '));
const DOUBTING = new Set(['may', 'might', 'could']);

/** True when one text says "must" or "only" or "hardly" of something and the other says "may", or of something else. Symmetric. */
export function modalitiesDiffer(a: Slots, b: Slots): boolean {
  if (onlyMoved(a, b) || degreesDiffer(a, b)) return true;
  if (!haveSameWords(a, b)) return false;
  const [one, two] = [modalOf(a).modal, modalOf(b).modal];
  if (one !== '' && two !== '' && one !== two) return true;
  return (
    mustDiffers(a, b) || mustDiffers(b, a) || isDoubted(a, b) || isDoubted(b, a) || denialMoved(a, b) || fewDiffer(a, b)
  );
}

/**
 * What a yes-or-no question or a statement says of its subject: empty where nothing, or where "how can I" and "how should I" come to the same.
 */
const modalOf: (slots: Slots) => { readonly modal: string } = remembered(({ slots, keys }) => {
  const first = slots[0] ?? [];
  const opening = first[0] ?? '';
  if (first[1] !== 'you' || opening === 'must' || opening === 'should') {
    const modal = CLASSES.get(opening);
    if (modal !== undefined) return { modal };
  }
  if (DO.has(opening)) return { modal: isBound(first) || isBound(slots[1] ?? []) ? 'must' : '' };
  for (let slot = 0; slot < Math.min(keys.length, STATED_SLOTS_MAX); slot += 1) {
    const words = slots[slot] ?? [];
    const last = words.findLast((word) => word !== 'not') ?? '';
    if (slot === 0 && !ASKING.has(opening)) continue;
    const modal = CLASSES.get(slot === 0 ? (words.at(-1) ?? '') : last) ?? (slot > 0 && isBound(words) ? 'must' : '');
    if (modal !== '' && !words.some((word) => SUBJECTS.has(word))) return { modal };
  }
  return { modal: '' };
});

const STATED_SLOTS_MAX = 4;
const ASKING = new Set('how what where when which who why'.split(' '));

function isBound(words: readonly string[]): boolean {
  return words.some((word, at) => BOUND_AFTER.has(word) && words[at + 1] === 'to');
}

/** "When must I leave", "when may I leave"; "how must I" and "how can I" come to the same. */
function mustDiffers(bound: Slots, free: Slots): boolean {
  return bound.slots.some((words, slot) => {
    const at = words.indexOf('must');
    const others = free.slots[slot] ?? [];
    return at >= 0 && !words.includes('you') && !MEANS.has(words[at - 1] ?? '') && isFree(others);
  });
}

function isFree(words: readonly string[]): boolean {
  return !words.includes('must') && words.some((word) => CLASSES.get(word) === 'may');
}

const MEANS = new Set(['how', 'what']);

/** "Could I have seen a ghost", "have I seen a ghost"; "the patient might have it". */
function isDoubted(doubting: Slots, other: Slots): boolean {
  for (let slot = 0; slot < doubting.slots.length; slot += 1) {
    const words = doubting.slots[slot] ?? [];
    const others = other.slots[slot] ?? [];
    if (others.some((word) => CLASSES.has(word) || word === 'possible')) continue;
    if (!words.some((word) => DOUBTING.has(word))) continue;
    if (words.includes('have') && others.some((word) => word === 'have' || word === 'has')) return true;
    if (
      slot > 0 &&
      words.some((word) => word === 'might' || word === 'may') &&
      !words.some((word) => SUBJECTS.has(word))
    )
      return true;
  }
  return false;
}

const SUBJECT_BEFORE = new Set('i we you he she they it'.split(' '));

/** "Only members can vote", "members can only vote": what comes before the subject limits it. */
function onlyMoved(a: Slots, b: Slots): boolean {
  const [inA, inB] = [a.keys.indexOf('only'), b.keys.indexOf('only')];
  if (inA < 0 || inB < 0 || a.keys.length !== b.keys.length) return false;
  if (without(a.keys, inA) !== without(b.keys, inB)) return false;
  return limitsSubject(a, inA) !== limitsSubject(b, inB);
}

function without(keys: readonly string[], at: number): string {
  return keys.filter((_, index) => index !== at).join(' ');
}

function limitsSubject({ slots }: Slots, at: number): boolean {
  return at === 0 && !(slots[0] ?? []).some((word) => SUBJECT_BEFORE.has(word));
}

/** "As fast as" and "faster than". */
function degreesDiffer(a: Slots, b: Slots): boolean {
  const [one, two] = [degreeOf(a).degree, degreeOf(b).degree];
  return one !== '' && two !== '' && one !== two && (haveSameWords(a, b) || haveNearlySameWords(a, b));
}

const degreeOf: (slots: Slots) => { readonly degree: string } = remembered(({ slots, words }) => {
  const than = slots.some((slot) => slot.includes('than'));
  const even = slots.findIndex((slot) => slot.includes('as'));
  if (than) return { degree: words.includes('less') || words.includes('fewer') ? 'less' : 'more' };
  return { degree: even >= 0 && slots.slice(even + 1).some((slot) => slot.includes('as')) ? 'even' : '' };
});

/** All but the degree. */
function haveNearlySameWords(a: Slots, b: Slots): boolean {
  const apart = (one: Slots, two: Slots): number => one.keys.filter((key) => !two.keys.includes(key)).length;
  return apart(a, b) <= 1 && apart(b, a) <= 1;
}

const NOT = new Set(['not', 'never']);

/** "Can I afford not to work", "can I not afford to work"; "why isn't my card working" says what "why is my card not working" does. */
function denialMoved(a: Slots, b: Slots): boolean {
  const [one, two] = [denialsOf(a).places, denialsOf(b).places];
  if (one.length !== two.length || one.length === 0) return false;
  return one.some((place, at) => place !== two[at] && place !== INVERTED && two[at] !== INVERTED);
}

const INVERTED = -1;

/** The slots that deny what comes after them. */
const denialsOf: (slots: Slots) => { readonly places: readonly number[] } = remembered(({ slots, words: verbs }) => {
  const places: number[] = [];
  for (const [slot, words] of slots.entries()) {
    for (const [at, word] of words.entries()) {
      if (!NOT.has(word)) continue;
      const anywhere =
        isInverted(words, at, slot) || RAISING.test(verbs[slot - 1] ?? '') || RAISING.test(verbs[slot] ?? '');
      places.push(anywhere ? INVERTED : slot);
    }
  }
  return { places };
});

/** Before its subject, or before one that comes between: "I can't get it to work". */
function isInverted(words: readonly string[], at: number, slot: number): boolean {
  if (CAUSING.has(words[at + 1] ?? '')) return true;
  const before = words[at - 1];
  if (before === undefined) return slot === 0;
  return ASKING.has(before) || before === '.' || before === ',';
}

/** "Seems not to work", "does not seem to work". */
const RAISING = /^(?:seem|appear|think|believe|tend)(?:s|ed|ing)?$/u;

const CAUSING = new Set(['get', 'let', 'make', 'able']);

/** "Few people", "a few people"; "little money", "a little money". */
function fewDiffer(a: Slots, b: Slots): boolean {
  for (const [at, word] of a.words.entries()) {
    if (word !== b.words[at] || (word !== 'few' && word !== 'little')) continue;
    const [one, two] = [a.slots[at] ?? [], b.slots[at] ?? []];
    if (one.includes('a') !== two.includes('a') && !one.some(isDeterminer) && !two.some(isDeterminer)) return true;
  }
  return false;
}

const DETERMINERS = new Set('the my our your his her their this that these those some'.split(' '));

function isDeterminer(word: string): boolean {
  return DETERMINERS.has(word);
}
