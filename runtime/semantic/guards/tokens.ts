/** One token of a text, as the guards read it. */
export interface Token {
  readonly kind: 'word' | 'symbol' | 'comma' | 'stop';
  readonly raw: string;
  /** Lower case, without accents, typographic apostrophes made plain; empty for commas and stops. */
  readonly lower: string;
  /** True for the first word of a sentence, where a capital says nothing. */
  readonly first: boolean;
}

const ALNUM = /[\p{L}\p{M}\p{N}_]/u;
const DIGIT = /\p{Nd}/u;
const SPACE = /\s/u;
const STOPS = '.?!;:\n…';
const COMMAS = ',()[]{}"“”«»„`–—|';
const APOSTROPHES = "'’ʼ‘";
/** Joins two word characters into one token; a comma only between digits. */
const JOINERS = ".-/@:'’ʼ,‐‑&";
const PLAIN = /^[\w.'-]*$/;
const MARKS = /\p{M}+/gu;

/** The tokens of a text in order. Linear in its length; any string is accepted. */
export function tokenise(text: string): readonly Token[] {
  const chars = Array.from(text);
  const tokens: Token[] = [];
  let first = true;
  let at = 0;
  while (at < chars.length) {
    const char = chars[at] ?? '';
    if (isWordStart(chars, at)) {
      const end = wordEnd(chars, at);
      const raw = chars.slice(at, end).join('');
      tokens.push({ kind: 'word', raw, lower: fold(raw), first });
      first = false;
      at = end;
      continue;
    }
    if (STOPS.includes(char)) {
      tokens.push({ kind: 'stop', raw: char, lower: '', first: false });
      first = true;
    } else if (COMMAS.includes(char)) {
      tokens.push({ kind: 'comma', raw: char, lower: '', first: false });
      if (char !== ',') first = true;
    } else if (!SPACE.test(char) && !APOSTROPHES.includes(char)) {
      tokens.push({ kind: 'symbol', raw: char, lower: char, first: false });
    }
    at += 1;
  }
  return tokens;
}

/** The part of a word before its first apostrophe. */
export function beforeApostrophe(word: string): string {
  for (let at = 0; at < word.length; at += 1) {
    const char = word[at];
    if (char === "'" || char === '’') return word.slice(0, at);
  }
  return word;
}

/** Lower case, without accents, apostrophes plain. */
export function fold(raw: string): string {
  if (PLAIN.test(raw)) return raw.toLowerCase();
  return raw.normalize('NFKD').replace(MARKS, '').toLowerCase().replaceAll('’', "'").replaceAll('ʼ', "'");
}

function isWordStart(chars: readonly string[], at: number): boolean {
  const char = chars[at] ?? '';
  if (ALNUM.test(char)) return true;
  const signed = char === '-' || char === '−';
  return signed && DIGIT.test(chars[at + 1] ?? '') && !ALNUM.test(chars[at - 1] ?? ' ');
}

function wordEnd(chars: readonly string[], start: number): number {
  let at = start + 1;
  for (;;) {
    const char = chars[at];
    if (char === undefined) return at;
    if (ALNUM.test(char)) at += 1;
    else if (joins(chars, at)) at += 2;
    else break;
  }
  while (chars[at] === '+' || chars[at] === '#') {
    if (ALNUM.test(chars[at + 1] ?? '')) break;
    at += 1;
  }
  return at;
}

function joins(chars: readonly string[], at: number): boolean {
  const char = chars[at] ?? '';
  if (!JOINERS.includes(char)) return false;
  const before = chars[at - 1] ?? '';
  const after = chars[at + 1] ?? '';
  if (!ALNUM.test(before) || !ALNUM.test(after)) return false;
  return char !== ',' || (DIGIT.test(before) && DIGIT.test(after));
}
