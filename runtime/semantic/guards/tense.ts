import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { FUNCTION_WORDS } from '../lexicons/grammar.ts';
import { BASE_OF } from '../lexicons/irregular.ts';
import { compare } from './compare.ts';
import { bareWord } from './word-info.ts';
import type { Rest } from './compare.ts';
import { stem } from './word-match.ts';

const FUTURE = new Set("will shall 'll gonna tomorrow".split(' '));
const PAST = new Set('was were did had already yesterday'.split(' '));
const BE = new Set('be is are am been being was were get gets getting got'.split(' '));
const HAVE = new Set("have has had 've haven't hasn't hadn't".split(' '));
const NOMINAL_BEFORE = new Set('a an the my your our their his her its this that these those any no some'.split(' '));
const CONDITIONS = new Set('if unless'.split(' '));
const CLAUSE_OPENERS = new Set('once after before although while until'.split(' '));
const VERB_WITHIN = 4;

/**
 * Times of the verbs of a text, sorted: `<` and `>` for a past and a future anywhere, `<pay` and `>pay` for verbs in them, `-pay` for one in the
 * present or bare form, `if` and its like for a condition.
 */
export function extractTenses(words: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (let at = 0; at < words.length; at += 1) {
    const word = bareWord(words[at] ?? '');
    if (CONDITIONS.has(word)) found.add(word === 'unless' ? 'unless' : 'if');
    else if (CLAUSE_OPENERS.has(word) && SUBJECTS.has(bareWord(words[at + 1] ?? ''))) found.add('if');
    if (word === 'before' && words[at + 1]?.endsWith('ing') === true) addVerb(found, words, at);
    if (word === 'when' && at > 0 && words[at - 1] !== '.' && SUBJECTS.has(bareWord(words[at + 1] ?? '')))
      found.add('if');
    if (isFuture(word, words, at)) {
      found.add('>');
      addVerb(found, words, at);
    } else if (PAST.has(word)) found.add('<');
    if (isPastForm(word, words, at)) found.add(`<${stem(BASE_OF.get(word) ?? word)}`);
    else if (isBareForm(word, words, at)) found.add(`${isAfterDid(words, at) ? '<' : '-'}${stem(word)}`);
  }
  return [...found].sort();
}

const SUBJECTS = new Set('i you we they he she it my your the'.split(' '));
const BEFORE_BARE = new Set(
  "to i you we they do does can could would should must may might don't not didn't did".split(' '),
);

function isFuture(word: string, words: readonly string[], at: number): boolean {
  if (FUTURE.has(word)) return true;
  const next = bareWord(words[at + 1] ?? '');
  const third = bareWord(words[at + 2] ?? '');
  return (
    (word === 'going' || word === 'about' || word === 'planning') &&
    next === 'to' &&
    third !== '' &&
    !NOMINAL_BEFORE.has(third)
  );
}

/** The verb that stands under a sign of the future. */
function addVerb(found: Set<string>, words: readonly string[], at: number): void {
  for (let next = at + 1; next <= at + VERB_WITHIN; next += 1) {
    const word = bareWord(words[next] ?? '.');
    if (word === '.' || word === ',') return;
    if (!FUNCTION_WORDS.has(word)) found.add(`>${stem(word)}`);
  }
}

/** "paid", "I started", "has shipped"; not "is included", nor "a delayed flight". */
function isPastForm(word: string, words: readonly string[], at: number): boolean {
  const irregular = BASE_OF.has(word);
  if (!irregular && !(word.length > 4 && word.endsWith('ed'))) return false;
  const before = bareWord(words[at - 1] ?? '');
  if (NOMINAL_BEFORE.has(before) && !irregular) return false;
  if (HAVE.has(before) || before === 'already') return true;
  if (BE.has(before)) return before === 'was' || before === 'were' || before === 'got' || before === 'been';
  return irregular || SUBJECTS.has(before) || PAST_BEFORE.has(before);
}

/** "did I spend": a past in a bare form. */
function isAfterDid(words: readonly string[], at: number): boolean {
  return words[at - 1] === 'did' || (words[at - 2] === 'did' && BEFORE_BARE.has(bareWord(words[at - 1] ?? '')));
}

const PAST_BEFORE = new Set('just and what who that which so then'.split(' '));

function isBareForm(word: string, words: readonly string[], at: number): boolean {
  return BEFORE_BARE.has(bareWord(words[at - 1] ?? '')) && !FUNCTION_WORDS.has(word) && /^[a-z]+$/u.test(word);
}

/** How far the times of two texts are apart, in [0, 1]: a verb that both share is past in one and to come in the other: 1. Symmetric. */
export function tenseConflict(a: Features, b: Features): number {
  const conflict = Math.max(verbConflict(a.tenses, b.tenses), verbConflict(b.tenses, a.tenses));
  if (conflict > 0) return conflict;
  return isPastOnly(a.tenses, b.tenses) || isPastOnly(b.tenses, a.tenses) ? 0.5 : 0;
}

function isPastOnly(one: readonly string[], two: readonly string[]): boolean {
  return one.includes('<') && !one.includes('>') && two.includes('>') && !two.includes('<');
}

function verbConflict(past: readonly string[], other: readonly string[]): number {
  let conflict = 0;
  for (const tense of past) {
    if (tense.length < 2 || !tense.startsWith('<') || other.includes(tense)) continue;
    const verb = tense.slice(1);
    if (other.includes(`>${verb}`)) conflict = 1;
    else if (other.includes(`-${verb}`)) conflict = Math.max(conflict, 0.75);
  }
  return conflict;
}

/** True when what is past in one text is to come in the other. Symmetric. */
export function tensesDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const conflict = tenseConflict(a, b);
  if (conflict === 1 || isDoneAgainstToCome(a, b) || isDoneAgainstToCome(b, a)) return true;
  if (conflict === 0 && !auxiliaryDiffers(a, b, lexicon)) return false;
  const compared = compare(a, b, lexicon);
  return (
    compared.near ||
    (conflict >= 0.75 && Math.min(compared.sharedA, compared.sharedB) >= 2 && compared.share >= TENSE_SHARE_MIN)
  );
}

const PERFECT = new Set(['has', 'have', 'had']);
const PARTICIPLE_WITHIN = 7;

/** "Has the parcel shipped?", "Will the parcel ship?": a question whose subject parts the verb from its auxiliary. */
function isDoneAgainstToCome(done: Features, toCome: Features): boolean {
  const { words } = done;
  if (!toCome.tenses.includes('>') || done.tenses.includes('>')) return false;
  for (const [at, word] of words.entries()) {
    if (!PERFECT.has(word) || (at > 0 && words[at - 1] !== '.' && words[at - 1] !== ',')) continue;
    for (const verb of words.slice(at + 2, at + 2 + PARTICIPLE_WITHIN)) {
      const plain = bareWord(verb);
      if (!BASE_OF.has(plain) && !plain.endsWith('ed')) continue;
      if (toCome.tenses.includes(`>${stem(BASE_OF.get(plain) ?? plain)}`)) return true;
    }
  }
  return false;
}

const TENSE_SHARE_MIN = 0.4;
const CONDITION_SHARE_MIN = 0.3;

/** "Was there an outage", "Is there an outage". */
function auxiliaryDiffers(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const { a: restA, b: restB } = compare(a, b, lexicon);
  if (restA.length === 0 || restB.length === 0) return false;
  const pastA = hasAny(restA, PAST_AUXILIARIES);
  const pastB = hasAny(restB, PAST_AUXILIARIES);
  if (pastA !== pastB && hasAny(pastA ? restB : restA, PRESENT) && !(pastA ? b : a).words.includes('being'))
    return true;
  return restA.length + restB.length <= FUTURE_REST_MAX && (isToCome(restA, restB) || isToCome(restB, restA));
}

function hasAny(rests: readonly Rest[], words: ReadonlySet<string>): boolean {
  for (const { word } of rests) if (words.has(word)) return true;
  return false;
}

const PAST_AUXILIARIES = new Set('was were did'.split(' '));
const FUTURE_REST_MAX = 3;

/** "What is the rate", "What will the rate be". */
function isToCome(future: readonly Rest[], present: readonly Rest[]): boolean {
  const will = future.some(({ word }) => word === 'will') && future.some(({ word }) => word === 'be');
  return will && present.some(({ word }) => word === 'is' || word === 'are');
}

const PRESENT = new Set('is are will do does am'.split(' '));

/** True when one text says all that the other says and sets a condition beside. Symmetric. */
export function conditionDiffers(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const ifA = a.tenses.includes('if') || a.tenses.includes('unless');
  const ifB = b.tenses.includes('if') || b.tenses.includes('unless');
  if (ifA === ifB)
    return ifA && a.tenses.includes('unless') !== b.tenses.includes('unless') && compare(a, b, lexicon).near;
  const compared = compare(a, b, lexicon);
  return compared.share >= CONDITION_SHARE_MIN && compared.contained === (ifB ? 1 : -1);
}
