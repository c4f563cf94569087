/** What the guards know of a text; extracted once and stored with its vector. */
export interface Features {
  /** Canonical quantities, dates and times, sorted. */
  readonly numbers: readonly string[];
  /** What the text denies, sorted. */
  readonly negations: readonly string[];
  /**
   * The words in order, lower case, without possessives and inner hyphens: `^word` for one whose capital marks a name, `=quantity` for a
   * number, `,` and `.` for the ends of phrases and sentences, symbols as they are.
   */
  readonly words: readonly string[];
  /** Operators and signs, in order. */
  readonly symbols: readonly string[];
  /** What is asked for, sorted: as in `extractQuestions`. */
  readonly questions: readonly string[];
  /** Times of the verbs, sorted: as in `extractTenses`. */
  readonly tenses: readonly string[];
  /** The text has a meaning only after another one. */
  readonly dependent: boolean;
  /** Language of the words: as in `languageOf`. */
  readonly language: string;
  /** Of each word its stem (as in `stem`); empty for numbers and the ends of phrases. Not stored: made from the words. */
  readonly stems: readonly string[];
  /**
   * Of each word its kind: `w` a word of meaning, `n` a name, `i` an identifier, `f` grammar, `c` courtesy, `s` a sign, `#` a number, `,` the
   * end of a phrase. Not stored: made from the words.
   */
  readonly kinds: readonly string[];
}
