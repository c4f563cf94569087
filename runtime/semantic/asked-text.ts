const LONE_SPACE = /(?<!\s)[^\S\n\t](?!\s)/gu;
const LINE_BREAK = /\r\n?|\u2028|\u2029/gu;

/**
 * A text as the semantic path compares it: NFC, outer white space gone, one kind of line break and one kind of lone space.
 * Inner runs of white space stay, because in code and in quoted text they carry meaning.
 */
export function normaliseAskedText(text: string): string {
  return text.normalize('NFC').replace(LINE_BREAK, '\n').trim().replace(LONE_SPACE, ' ');
}

const MARKS = /\p{M}+/gu;
const NOT_WORD = /[^\p{L}\p{N}]+/gu;

/** Letters and digits of a text, lower case and without accents: two texts with one vector but different folds mean a blind embedder. */
export function foldText(text: string): string {
  return text.normalize('NFKD').replace(MARKS, '').replace(NOT_WORD, '').toLowerCase();
}

/** True when two texts have one `foldText`. Texts of plain letters are compared as they stand, and most differ early. */
export function sameFold(a: string, b: string): boolean {
  let atA = 0;
  let atB = 0;
  for (;;) {
    while (atA < a.length && foldedCode(a.charCodeAt(atA)) === SKIPPED) atA += 1;
    while (atB < b.length && foldedCode(b.charCodeAt(atB)) === SKIPPED) atB += 1;
    const codeA = atA < a.length ? foldedCode(a.charCodeAt(atA)) : ENDED;
    const codeB = atB < b.length ? foldedCode(b.charCodeAt(atB)) : ENDED;
    if (codeA === FOREIGN || codeB === FOREIGN) return foldText(a) === foldText(b);
    if (codeA !== codeB) return false;
    if (codeA === ENDED) return true;
    atA += 1;
    atB += 1;
  }
}

const ENDED = -3;
const FOREIGN = -2;
const SKIPPED = -1;
const ASCII_END = 128;
const SMALL_BIT = 32;

/** Code of a letter or digit in lower case; what else is plain is skipped. */
function foldedCode(code: number): number {
  if (code >= ASCII_END) return FOREIGN;
  if ((code >= 48 && code <= 57) || (code >= 97 && code <= 122)) return code;
  return code >= 65 && code <= 90 ? code + SMALL_BIT : SKIPPED;
}

const SPACE_BETWEEN = /(?<!\s) (?!\s)/gu;
const DOUBLE_SPACE = /(?<!\s) {2}(?!\s)/gu;
/** Something is quoted, or white space is spoken of: then even two spaces may be meant. Elsewhere they are mistyped. */
const MINDS_SPACES = /[:"`“„«]|spac|blank|indent|gap/iu;
/** A habit of typing. */
const AFTER_SENTENCE = /(?<=[.?!]) {2}(?!\s)/gu;
const NOT_SPELLED = /[^\p{L}\p{M}\p{N}\s]+/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const SENTENCE_END = /[.?!…]/u;
const SPACE = /\s/u;
const PRONOUN = /(?<![\p{L}\p{N}])[Ii](?![\p{L}\p{N}])/gu;
const SHOUTED_WORDS_MIN = 3;

/**
 * True when two normalised texts of one fold aren't written alike where it can matter: other accents, other runs of white space, or a
 * capital that doesn't just begin a sentence in one of them only. Symmetric.
 */
export function spellingDiffers(a: string, b: string): boolean {
  if (a === b) return false;
  const evenA = evenCase(a);
  const evenB = evenCase(b);
  if (spelled(evenA.toLowerCase()) !== spelled(evenB.toLowerCase())) return true;
  if (isShouted(a) || isShouted(b)) return false;
  return spelled(evenA) !== spelled(evenB);
}

/** Letters, digits and the white space that isn't a mere gap between words. */
function spelled(text: string): string {
  return closeGaps(text).replace(NOT_SPELLED, '').trim();
}

/** The text without the gaps that mean nothing. */
function closeGaps(text: string): string {
  const closed = text.replace(SPACE_BETWEEN, '');
  return MINDS_SPACES.test(text) ? closed.replace(AFTER_SENTENCE, '') : closed.replace(DOUBLE_SPACE, '');
}

/** The text with the first letter of each sentence, and "I", in lower case. */
function evenCase(text: string): string {
  let even = '';
  let first = true;
  let ended = false;
  for (const char of text) {
    if (LETTER_OR_DIGIT.test(char)) {
      even += first ? char.toLowerCase() : char;
      first = false;
      ended = false;
    } else {
      even += char;
      if (SENTENCE_END.test(char)) ended = true;
      else if (ended && SPACE.test(char)) first = true;
    }
  }
  return even.replace(PRONOUN, 'i');
}

/** True for a text all in capitals: none of them marks a name. */
function isShouted(text: string): boolean {
  return !/\p{Ll}/u.test(text) && (text.match(/\p{Lu}+/gu)?.length ?? 0) >= SHOUTED_WORDS_MIN;
}

const STOP_OR_SPACE = /[.?!…\s]/u;

/** A text without what doesn't matter even where it is quoted: case, lone spaces, final stops, the shape of quotes and dashes. */
export function lightFold(text: string): string {
  let end = text.length;
  while (end > 0 && STOP_OR_SPACE.test(text[end - 1] ?? '')) end -= 1;
  return closeGaps(text.slice(0, end))
    .replace(/[‘’ʼ]/gu, "'")
    .replace(/[“”«»„]/gu, '"')
    .replace(/[‐‑–—]/gu, '-')
    .toLowerCase();
}
