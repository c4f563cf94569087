import { BASE_OF } from '../lexicons/irregular.ts';
import type { Slots } from './slots.ts';
import { baseOf } from './word-match.ts';

/** For texts with the same words of meaning in the same order: true when the form of one makes another text of it. Symmetric. */
export function formsDiffer(a: Slots, b: Slots): boolean {
  if (hadDiffers(a, b)) return true;
  for (let at = 0; at < a.words.length; at += 1) {
    const [one, two] = [a.words[at] ?? '', b.words[at] ?? ''];
    if (one === two || !areForms(one, two)) continue;
    if (numbersDiffer(a, b, at) || gerundsDiffer(a, b, at) || timesDiffer(a, b, at) || timesDiffer(b, a, at))
      return true;
  }
  return false;
}

/** Two forms of one word, not two words of one meaning. */
function areForms(one: string, two: string): boolean {
  return (
    isPluralOf(one, two) || isPluralOf(two, one) || baseOf(BASE_OF.get(one) ?? one) === baseOf(BASE_OF.get(two) ?? two)
  );
}

const SINGLE = new Set(['one', 'a', 'an', 'another']);
const MANY = new Set(['some', 'any']);
/** Orders of which the answer is as many things as were asked for. */
const ORDERS = new Set(
  `give show tell name list suggest recommend write create generate make find draw print propose think describe invent compose provide pick
  choose send get quote cite add buy order book`
    .split(/\s+/u)
    .map(baseOf),
);

/** "Suggest a film", "suggest films"; "one example", "examples". */
function numbersDiffer(a: Slots, b: Slots, at: number): boolean {
  const [one, two] = [a.words[at] ?? '', b.words[at] ?? ''];
  const [single, plural, many] = isPluralOf(two, one) ? [a, b, two] : isPluralOf(one, two) ? [b, a, one] : [a, a, ''];
  if (many === '') return false;
  const before = single.slots[at] ?? [];
  const beforeMany = plural.slots[at] ?? [];
  if (before.includes('one')) return true;
  if (!before.some((word) => SINGLE.has(word)) || beforeMany.some((word) => SINGLE.has(word))) return false;
  return (
    isObjectOfOrder(single, at) &&
    isObjectOfOrder(plural, at) &&
    !beforeMany.some((word) => MANY.has(word) && word === 'any')
  );
}

function isPluralOf(plural: string, single: string): boolean {
  return (
    plural === `${single}s` ||
    plural === `${single}es` ||
    (single.endsWith('y') && plural === `${single.slice(0, -1)}ies`)
  );
}

/** The first thing that an order asks for. */
function isObjectOfOrder({ words, slots }: Slots, at: number): boolean {
  const first = slots[0] ?? [];
  if (first.some((word) => QUESTIONS.has(word))) return false;
  if (at === 0) return !first.some((word) => OTHERWISE.has(word));
  return ORDERS.has(baseOf(words[0] ?? '')) && at <= 2;
}

const QUESTIONS = new Set('how why where when who what which do does did is are was were if'.split(' '));
const OTHERWISE = new Set('have has had my need am can could should must may'.split(' '));

const BEFORE_GERUND = new Set('stop quit remember forget regret try mean used'.split(' ').map(baseOf));

/** "Stopped to smoke", "stopped smoking"; "I used to run", "I am used to running". */
function gerundsDiffer(a: Slots, b: Slots, at: number): boolean {
  const [one, two] = [a.words[at] ?? '', b.words[at] ?? ''];
  if (one.endsWith('ing') === two.endsWith('ing') || at === 0) return false;
  const before = a.words[at - 1] ?? '';
  return BEFORE_GERUND.has(baseOf(BASE_OF.get(before) ?? before));
}

const AUXILIARIES = new Set(
  `is are was were be been being am have has had get gets got getting do does did will would can could should must may might to not i'd made make
  let`.split(/\s+/u),
);

/** "She takes", "she took"; "who pays", "who gets paid". Not where a little word before it may tell the time. */
function timesDiffer(past: Slots, other: Slots, at: number): boolean {
  const [one, two] = [past.words[at] ?? '', other.words[at] ?? ''];
  if (!isPast(one) || isPast(two) || two.endsWith('ing')) return false;
  const before = past.slots[at] ?? [];
  const passive = before.some((word) => PASSIVE.has(word));
  const others = other.slots[at] ?? [];
  if (passive) return two.endsWith('s') && !others.some((word) => AUXILIARIES.has(word));
  if (before.some((word) => AUXILIARIES.has(word)) || others.some((word) => AUXILIARIES.has(word))) return false;
  if (isCaused(past, at) || isAsked(past) || isAsked(other)) return false;
  return isSubjectBefore(past, at) && isSubjectBefore(other, at);
}

/** "I get my tyres changed". */
function isCaused({ slots }: Slots, at: number): boolean {
  return [slots[at - 1], slots[at - 2]].some((slot) => slot?.some((word) => CAUSING.has(word)) === true);
}

const CAUSING = new Set('get gets got getting have has had need want make made'.split(' '));

const PASSIVE = new Set('is are get gets getting was were'.split(' '));

function isPast(word: string): boolean {
  return BASE_OF.has(word) || (word.length > 4 && word.endsWith('ed'));
}

const SUBJECTS = new Set('i we you he she they it who what which that'.split(' '));
const DETERMINERS = new Set('a an the my our your his her their this these some any'.split(' '));

/** What comes right before is its subject: a person, or a thing with no article between. */
function isSubjectBefore({ slots }: Slots, at: number): boolean {
  const words = slots[at] ?? [];
  const last = words.at(-1);
  return last === undefined ? at > 0 : SUBJECTS.has(last) && !DETERMINERS.has(last);
}

/** "What did she take": the time stands in the question. */
function isAsked({ slots }: Slots): boolean {
  return (slots[0] ?? []).some((word) => ASKING.has(word));
}

const ASKING = new Set('do does did would could can will has have had'.split(' '));

/** "My son has a fever", "my son had a fever". */
function hadDiffers(a: Slots, b: Slots): boolean {
  return a.slots.some((slot, at) => {
    const other = b.slots[at] ?? [];
    return (isPresent(slot) && isPerfect(other)) || (isPresent(other) && isPerfect(slot));
  });
}

function isPresent(slot: readonly string[]): boolean {
  return (slot.includes('has') || slot.includes('have')) && !slot.includes('had') && !slot.includes('to');
}

function isPerfect(slot: readonly string[]): boolean {
  return slot.includes('had') && !slot.includes('has') && !slot.includes('have') && !slot.includes('to');
}
