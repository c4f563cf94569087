import type { DomainRule } from '../ports/options.ts';

/** What a rule looks at. */
export interface RuleSubject {
  readonly namespace: string;
  /** As asked. */
  readonly model: string;
  /** Asked text; empty where the request takes no part in semantic reuse. */
  readonly text: string;
}

/** Longest run of letters and digits that is looked up; a longer one is no word. */
const WORD_CHARACTERS_MAX = 64;
const WORD = /[\p{L}\p{N}]+/gu;
const MARKS = /\p{M}+/gu;

/** The rules of a node, compiled once. Without regular expressions of anybody's own: a text is read once, whatever the rules. */
export class DomainRules {
  readonly #rules: readonly CompiledRule[];
  readonly #reads: boolean;

  constructor(rules: readonly DomainRule[]) {
    this.#rules = rules.map(compileRule);
    this.#reads = this.#rules.some(({ words }) => words !== undefined);
  }

  /** The first rule that fits, with its place; undefined when none does. */
  match(
    subject: RuleSubject,
  ): { readonly rule: DomainRule; readonly index: number; readonly word: string } | undefined {
    if (this.#rules.length === 0) return undefined;
    let words: readonly string[] | undefined;
    for (const [index, compiled] of this.#rules.entries()) {
      const { rule } = compiled;
      if (!matchesGlob(rule.namespace, subject.namespace) || !matchesGlob(rule.model, subject.model)) continue;
      if (compiled.words === undefined) return { rule, index, word: '' };
      words ??= this.#reads ? wordsOf(subject.text) : [];
      const word = compiled.words.find(words);
      if (word !== undefined) return { rule, index, word };
    }
    return undefined;
  }
}

interface CompiledRule {
  readonly rule: DomainRule;
  readonly words: WordList | undefined;
}

function compileRule(rule: DomainRule): CompiledRule {
  return { rule, words: rule.words.length === 0 ? undefined : new WordList(rule.words) };
}

/** Words of a text: runs of letters and digits, lower case, without accents. */
export function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKD')
      .replace(MARKS, '')
      .toLowerCase()
      .match(WORD)
      ?.filter((word) => word.length <= WORD_CHARACTERS_MAX) ?? []
  );
}

interface Phrase {
  readonly words: readonly Part[];
  readonly spelled: string;
}

interface Part {
  readonly text: string;
  readonly open: boolean;
}

/** Words and phrases, found in time that grows with the text and not with the list. */
class WordList {
  /** By the first word, whole. */
  readonly #whole = new Map<string, Phrase[]>();
  /** By the first word, which may go on. */
  readonly #open = new Map<string, Phrase[]>();
  #openMin = Infinity;
  #openMax = 0;

  constructor(spelled: readonly string[]) {
    for (const text of spelled) this.#add(text);
  }

  /** The entry, as it was spelled, of which the text has all words in a row; the first place in the text counts. */
  find(words: readonly string[]): string | undefined {
    for (const [at, word] of words.entries()) {
      const whole = this.#whole.get(word)?.find((phrase) => continues(phrase, words, at));
      if (whole !== undefined) return whole.spelled;
      for (let length = this.#openMin; length <= Math.min(this.#openMax, word.length); length += 1) {
        const open = this.#open.get(word.slice(0, length))?.find((phrase) => continues(phrase, words, at));
        if (open !== undefined) return open.spelled;
      }
    }
    return undefined;
  }

  #add(spelled: string): void {
    const parts = spelled.split(/\s+/u).flatMap((piece): Part[] => {
      const texts = wordsOf(piece);
      return texts.map((text, index) => ({ text, open: piece.endsWith('*') && index === texts.length - 1 }));
    });
    const [first] = parts;
    if (first === undefined) return;
    const map = first.open ? this.#open : this.#whole;
    const phrases = map.get(first.text) ?? [];
    phrases.push({ words: parts, spelled });
    map.set(first.text, phrases);
    if (!first.open) return;
    this.#openMin = Math.min(this.#openMin, first.text.length);
    this.#openMax = Math.max(this.#openMax, first.text.length);
  }
}

function continues(phrase: Phrase, words: readonly string[], at: number): boolean {
  return phrase.words.every(({ text, open }, index) => {
    const word = words[at + index];
    return word !== undefined && (open ? word.startsWith(text) : word === text);
  });
}

/** True when `*` in the glob can stand for runs of characters that make it the text. At worst the product of the lengths in steps. */
function matchesGlob(glob: string, text: string): boolean {
  if (glob === '*') return true;
  const [head = '', ...rest] = glob.split('*');
  const tail = rest.pop();
  if (tail === undefined) return glob === text;
  if (!text.startsWith(head) || text.length < head.length + tail.length || !text.endsWith(tail)) return false;
  const end = text.length - tail.length;
  let at = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
