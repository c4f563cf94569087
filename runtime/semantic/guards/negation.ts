import { FUNCTION_WORDS, NEGATIVE_PREFIXES, OPPOSITE_PREFIXES, SIDES_OF } from './lexicon.ts';
import type { Token } from './tokens.ts';
import { sameWord, stem } from './word-match.ts';

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
export function isNegator(lower: string): boolean {
  return NEGATORS.has(lower) || isContractedNot(lower) || lower.startsWith('non-');
}

/** What a text denies: for each negation the stem of the next word of meaning in its sentence, empty when there is none. Sorted. */
export function extractNegations(tokens: readonly Token[]): readonly string[] {
  const targets: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word' || !isNegator(token.lower)) continue;
    targets.push(token.lower.startsWith('non-') ? stem(token.lower.slice(4)) : targetAfter(tokens, index));
  }
  return targets.sort();
}

function targetAfter(tokens: readonly Token[], index: number): string {
  for (let at = index + 1; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || token.kind === 'stop') return '';
    if (token.kind !== 'word' || isGrammar(token.lower) || isNegator(token.lower)) continue;
    return stem(token.lower.replace(/'.*$/u, ''));
  }
  return '';
}

function isGrammar(lower: string): boolean {
  return FUNCTION_WORDS.has(lower) || FUNCTION_WORDS.has(lower.replace(/'.*$/u, ''));
}

/** True when one text denies what the other doesn't, or says the contrary: negations, opposites, contrary prefixes. Symmetric. */
export function polarityDiffers(a: Polarity, b: Polarity): boolean {
  return negationsDiffer(a.negations, b.negations) || sidesDiffer(a.words, b.words) || prefixesDiffer(a.words, b.words);
}

/** What the negation guard compares. `words`: as in `Features`. */
export interface Polarity {
  readonly negations: readonly string[];
  readonly words: readonly string[];
}

function negationsDiffer(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return true;
  const left = [...b];
  for (const target of a) {
    const match = left.findIndex((other) => sameTarget(target, other));
    if (match < 0) return true;
    left.splice(match, 1);
  }
  return false;
}

function sameTarget(a: string, b: string): boolean {
  if (a === b || sameWord(a, b)) return true;
  const shorter = a.length < b.length ? a : b;
  return shorter.length >= 3 && a.startsWith(shorter) && b.startsWith(shorter);
}

/** Counts of each side of each pair of opposites; a difference in both directions is a contradiction. */
function sidesDiffer(a: readonly string[], b: readonly string[]): boolean {
  const balance = new Map<number, number>();
  addSides(balance, a, 1);
  addSides(balance, b, -1);
  for (const [side, count] of balance) {
    const other = balance.get(-side) ?? 0;
    if ((count > 0 && other < 0) || (count < 0 && other > 0)) return true;
  }
  return false;
}

function addSides(balance: Map<number, number>, words: readonly string[], amount: number): void {
  for (const marked of words) {
    const word = marked.startsWith('^') ? marked.slice(1) : marked;
    for (const side of SIDES_OF.get(word) ?? SIDES_OF.get(stem(word)) ?? []) {
      balance.set(side, (balance.get(side) ?? 0) + amount);
    }
  }
}

function prefixesDiffer(a: readonly string[], b: readonly string[]): boolean {
  const stemsA = stemsOf(a);
  const stemsB = stemsOf(b);
  return hasContrary(stemsA, stemsB) || hasContrary(stemsB, stemsA);
}

function stemsOf(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map((word) => stem(word.startsWith('^') ? word.slice(1) : word)));
}

function hasContrary(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const word of a) {
    if (b.has(word)) continue;
    for (const prefix of NEGATIVE_PREFIXES) {
      const contrary = prefix + word;
      if (word.length >= 3 && b.has(contrary) && !a.has(contrary)) return true;
    }
    for (const [one, two] of OPPOSITE_PREFIXES) {
      if (word.length < one.length + 3 || !word.startsWith(one)) continue;
      const contrary = two + word.slice(one.length);
      if (b.has(contrary) && !a.has(contrary)) return true;
    }
  }
  return false;
}
