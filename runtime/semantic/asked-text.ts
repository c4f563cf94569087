const INNER_SPACE = /[^\S\n]+/gu;
const LINE_BREAK = /\r\n?|\u2028|\u2029/gu;

/**
 * A text as the semantic path compares it: NFC, outer white space gone and, in a text of one line, runs of white space
 * made one space. Text of several lines keeps its inner white space, because in code it carries meaning.
 */
export function normaliseAskedText(text: string): string {
  const trimmed = text.normalize('NFC').replace(LINE_BREAK, '\n').trim();
  return trimmed.includes('\n') ? trimmed : trimmed.replace(INNER_SPACE, ' ');
}

const MARKS = /\p{M}+/gu;
const NOT_WORD = /[^\p{L}\p{N}]+/gu;

/** Letters and digits of a text, lower case and without accents: two texts with one vector but different folds mean a blind embedder. */
export function foldText(text: string): string {
  return text.normalize('NFKD').replace(MARKS, '').replace(NOT_WORD, '').toLowerCase();
}
