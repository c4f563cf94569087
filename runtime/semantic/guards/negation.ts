import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { FUNCTION_WORDS, STRONG_QUESTION_WORDS } from '../lexicons/grammar.ts';
import { antonymConflict } from './antonyms.ts';
import { compare } from './compare.ts';
import type { Rest } from './compare.ts';
import { beforeApostrophe } from './tokens.ts';
import type { Token } from './tokens.ts';
import { stem } from './word-match.ts';

const CONTRACTED_WORDS = new Set(
  `cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt havent hasnt hadnt mustnt neednt
  aint`.split(/\s+/u),
);
const NEGATORS = new Set(
  `not no never without none nobody nothing nowhere neither nor unable hardly barely scarcely except excluding lack
  lacks lacking fail fails failed failing refuse refuses refused`.split(/\s+/u),
);

/** True for a verb grown together with "not", with or without its apostrophe. */
export function isContractedNot(lower: string): boolean {
  return lower.endsWith("n't") || CONTRACTED_WORDS.has(lower);
}

/** True for a word that denies what follows. */
function isNegator(lower: string): boolean {
  return NEGATORS.has(lower) || isContractedNot(lower) || lower.startsWith('non-');
}

/** What a text denies: for each negation the stem of the next word of meaning in its sentence, empty when there is none. Sorted. */
export function extractNegations(tokens: readonly Token[]): readonly string[] {
  const targets: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word' || !isNegator(token.lower)) continue;
    if (isNoDenial(tokens, index)) continue;
    targets.push(token.lower.startsWith('non-') ? stem(token.lower.slice(4)) : targetOf(tokens, index));
  }
  return targets.sort();
}

/** Nouns and verbs of their own, unless they deny what follows: "the build fails", "fails to build". */
const FAILURES = new Set('fail fails failed failing refuse refuses refused lack lacks lacking'.split(' '));

/** "No, …" answers, and `None` is a value. */
function isNoDenial(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  if (FAILURES.has(token?.lower ?? '') && tokens[index + 1]?.lower !== 'to') return true;
  if (token?.lower === 'no') return token.first && tokens[index + 1]?.kind !== 'word';
  return (token?.raw === 'None' && !token.first) || isIgnorance(tokens, index);
}

const KNOWING = new Set('know understand sure certain figure clear see idea clue get'.split(' '));
const CLAUSE_OPENERS = new Set('how what why where when which who if whether'.split(' '));
const KNOWING_WITHIN = 4;
const OPENER_WITHIN = 3;

/** "I don't understand why", "I'm not sure how": the same question as without. */
function isIgnorance(tokens: readonly Token[], index: number): boolean {
  for (let at = index + 1; at <= index + KNOWING_WITHIN; at += 1) {
    if (!KNOWING.has(tokens[at]?.lower ?? '')) continue;
    for (let next = at + 1; next <= at + OPENER_WITHIN; next += 1)
      if (CLAUSE_OPENERS.has(tokens[next]?.lower ?? '')) return true;
  }
  return false;
}

/** None known for "why isn't …", where the subject follows; what stands before for "… but the radio doesn't". */
function targetOf(tokens: readonly Token[], index: number): string {
  const inverted =
    isContractedNot(tokens[index]?.lower ?? '') && STRONG_QUESTION_WORDS.has(tokens[index - 1]?.lower ?? 'why');
  if (inverted) return '';
  const after = targetAfter(tokens, index);
  const before = tokens[index - 1];
  return after === '' && before?.kind === 'word' && !isGrammar(before.lower) ? stem(before.lower) : after;
}

function targetAfter(tokens: readonly Token[], index: number): string {
  for (let at = index + 1; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || token.kind === 'stop') return '';
    if (token.kind !== 'word' || isGrammar(token.lower) || isNegator(token.lower)) continue;
    return stem(beforeApostrophe(token.lower));
  }
  return '';
}

function isGrammar(lower: string): boolean {
  return FUNCTION_WORDS.has(lower) || FUNCTION_WORDS.has(beforeApostrophe(lower));
}

/** How far two texts differ in what they deny, in [0, 1]: 1 where one denies just what the other says, 0.5 for another count. Symmetric. */
export function negationConflict(a: Features, b: Features): number {
  if (a.negations.length === 0 && b.negations.length === 0) return 0;
  const [moreA, moreB] = unmatchedTargets(a.negations, b.negations);
  if (moreA.length === 0 && moreB.length === 0) return 0;
  return isAffirmed(moreA, b) || isAffirmed(moreB, a) ? 1 : 0.5;
}

/** True when one text denies what the other says. Symmetric. */
export function negationsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const conflict = negationConflict(a, b);
  if (conflict === 0) return false;
  const compared = compare(a, b, lexicon);
  if (isTurnedTwice(a, b, lexicon)) return false;
  if (compared.near) {
    const sameCount = a.negations.length === b.negations.length;
    if (sameCount ? !isExchanged(a, b) : isTrouble(a, b) || isTrouble(b, a)) return false;
    return !isSaidOtherwise(compared.a, compared.b);
  }
  return conflict === 1 && compared.share >= AFFIRMED_SHARE_MIN && !isSaidOtherwise(compared.a, compared.b);
}

/** "optional" and "not mandatory": a denial and an opposite make up for each other. */
function isTurnedTwice(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  return Math.abs(a.negations.length - b.negations.length) === 1 && antonymConflict(a, b, lexicon) === 1;
}

/** Each denies what the other says: "an email but no parcel", "a parcel but no email". */
function isExchanged(a: Features, b: Features): boolean {
  const [moreA, moreB] = unmatchedTargets(a.negations, b.negations);
  return isAffirmed(moreA, b) && isAffirmed(moreB, a) && isContrasted(a) && isContrasted(b);
}

/** Something is said beside what is denied. */
function isContrasted({ words }: Features): boolean {
  return words.some(
    (word, at) => word === 'but' || word === 'and' || word === 'yet' || (word === ',' && at < words.length - 1),
  );
}

/** "I can't get the lamp to work", "why won't the lamp work": told or asked beside "how do I get the lamp to work" it is the same trouble. */
export function isTrouble(denying: Features, asking: Features): boolean {
  if (
    denying.negations.length !== 1 ||
    asking.negations.length > 0 ||
    !asking.questions.includes('how') ||
    !asking.words.some(isGetting)
  )
    return false;
  if (denying.questions.includes('why')) return true;
  return denying.questions.length === 0 && denying.words[0] === 'i';
}

function isGetting(word: string): boolean {
  return word === 'get' || word === 'make' || word === 'fix';
}

const AFFIRMED_SHARE_MIN = 0.5;

/** "isn't valid" and "is invalid": the denial stands in the word. */
function isSaidOtherwise(a: readonly Rest[], b: readonly Rest[]): boolean {
  return a.some(({ word }) => DENYING.has(word)) || b.some(({ word }) => DENYING.has(word));
}

const DENYING = new Set(
  `unable cannot impossible invalid fail fails failed failing refuse refuses refused lacking missing unavailable doubt wrong incorrect absence absent
  avoid avoids avoiding omit omits omitting instead unlike prevent prevents preventing stop stops too free`.split(
    /\s+/u,
  ),
);

function isAffirmed(targets: readonly string[], other: Features): boolean {
  return targets.some((target) => target !== '' && other.stems.includes(target) && !other.negations.includes(target));
}

function unmatchedTargets(a: readonly string[], b: readonly string[]): [readonly string[], readonly string[]] {
  const left = [...b];
  const more: string[] = [];
  for (const target of a) {
    const match = left.findIndex((other) => sameTarget(target, other));
    if (match < 0) more.push(target);
    else left.splice(match, 1);
  }
  return [more, left];
}

function sameTarget(a: string, b: string): boolean {
  if (a === b) return true;
  const shorter = a.length < b.length ? a : b;
  return shorter.length >= 3 && a.startsWith(shorter) && b.startsWith(shorter);
}
