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
  // The next word of meaning before the sentence ends, known from behind; empty where there is none.
  let after = '';
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index]!;
    if (token.kind === 'stop') after = '';
    if (token.kind !== 'word') continue;
    if (!isNegator(token.lower)) {
      if (!isGrammar(token.lower)) after = beforeApostrophe(token.lower);
      continue;
    }
    if (isNoDenial(tokens, index)) continue;
    targets.push(token.lower.startsWith('non-') ? stem(token.lower.slice(4)) : targetOf(tokens, index, after));
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
function targetOf(tokens: readonly Token[], index: number, after: string): string {
  const inverted =
    isContractedNot(tokens[index]?.lower ?? '') && STRONG_QUESTION_WORDS.has(tokens[index - 1]?.lower ?? 'why');
  if (inverted) return '';
  const before = tokens[index - 1];
  return after === '' && before?.kind === 'word' && !isGrammar(before.lower) ? stem(before.lower) : stem(after);
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
  if (targets.length > SCANNED_MAX) {
    const said = new Set(other.stems);
    const denied = new Set(other.negations);
    return targets.some((target) => target !== '' && said.has(target) && !denied.has(target));
  }
  return targets.some((target) => target !== '' && other.stems.includes(target) && !other.negations.includes(target));
}

/** Looking through so few takes less than making sets of them. */
const SCANNED_MAX = 24;

/** Of each list, sorted, what the other has nothing for: each takes the first of the other that is left and means the same. */
function unmatchedTargets(a: readonly string[], b: readonly string[]): [readonly string[], readonly string[]] {
  if (a.length > SCANNED_MAX && b.length > SCANNED_MAX) return unmatchedOfMany(a, b);
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

/** As for few, without looking at each pair: shorter beginnings of a target come before it, longer forms right after it. */
function unmatchedOfMany(a: readonly string[], b: readonly string[]): [readonly string[], readonly string[]] {
  const left = new SortedTargets(b);
  return [a.filter((target) => !left.take(target)), left.rest()];
}

const BEGINNING_MIN = 3;

class SortedTargets {
  readonly #targets: readonly string[];
  /** Of each target the first place that has it. */
  readonly #places = new Map<string, number>();
  readonly #lengths: readonly number[];
  /** Of each place itself while it is left, else one behind it on the way to the next that is. */
  readonly #next: number[];

  constructor(targets: readonly string[]) {
    this.#targets = targets;
    for (const [place, target] of targets.entries()) if (!this.#places.has(target)) this.#places.set(target, place);
    this.#lengths = [...new Set(targets.map(({ length }) => length))].sort((one, two) => one - two);
    this.#next = Array.from({ length: targets.length + 1 }, (_, place) => place);
  }

  /** Takes the first that is left and the same as `target`, in the sense of `sameTarget`; false: there is none. */
  take(target: string): boolean {
    for (const length of this.#lengths) {
      if (length > target.length) break;
      if (length < BEGINNING_MIN && length < target.length) continue;
      const beginning = target.slice(0, length);
      const place = this.#leftFrom(this.#places.get(beginning) ?? this.#targets.length);
      if (this.#targets[place] === beginning) return this.#remove(place);
    }
    if (target.length < BEGINNING_MIN) return false;
    const place = this.#leftFrom(this.#placeOf(target));
    return this.#targets[place]?.startsWith(target) === true && this.#remove(place);
  }

  rest(): readonly string[] {
    return this.#targets.filter((_, place) => this.#next[place] === place);
  }

  #remove(place: number): true {
    this.#next[place] = place + 1;
    return true;
  }

  #leftFrom(place: number): number {
    let found = place;
    while (this.#next[found] !== found) found = this.#next[found]!;
    for (let at = place; at !== found;) {
      const next = this.#next[at]!;
      this.#next[at] = found;
      at = next;
    }
    return found;
  }

  /** The first place of a target that isn't before `target`. */
  #placeOf(target: string): number {
    let low = 0;
    let high = this.#targets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#targets[middle]! < target) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
