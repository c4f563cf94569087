import { BASE_OF } from '../lexicons/irregular.ts';
import { COUNTRY_OF } from '../lexicons/places.ts';
import { ALIAS_OF } from '../lexicons/synonyms.ts';

/** Stems of recent words: texts share most of theirs, and a stem takes several regular expressions. */
const stems = new Map<string, string>();
const STEMS_MAX = 16_384;
const STEMMED_LENGTH_MAX = 40;

/**
 * What a word is compared by: its stem in one spelling of British and American ones, irregular forms made regular, and for a word with
 * synonyms the name of their group. Crude, but the same for every text.
 */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (word.length > STEMMED_LENGTH_MAX) return word;
  if (stems.size >= STEMS_MAX) stems.clear();
  const base = groupOf(word);
  stems.set(word, base);
  return base;
}

function groupOf(word: string): string {
  const country = COUNTRY_OF.get(word) ?? COUNTRY_OF.get(word.endsWith('s') ? word.slice(0, -1) : word);
  if (country !== undefined) return country;
  const alias = ALIAS_OF.get(word);
  if (alias !== undefined) return plainStem(alias);
  const base = BASE_OF.get(word) ?? word;
  const plain = plainStem(base);
  return STEM_GROUP.get(plain) ?? plain;
}

const bases = new Map<string, string>();

/** A word without its inflection, remembered. */
export function baseOf(word: string): string {
  const known = bases.get(word);
  if (known !== undefined) return known;
  if (word.length > STEMMED_LENGTH_MAX) return word;
  if (bases.size >= STEMS_MAX) bases.clear();
  const base = plainStem(word);
  bases.set(word, base);
  return base;
}

/** A word without its inflection. */
function plainStem(word: string): string {
  let base = spelling(word);
  if (base.length > 4 && base.endsWith('ies')) base = `${base.slice(0, -3)}y`;
  else if (base.length > 3 && base.endsWith('s') && !/(?:ss|us|is)$/u.test(base)) base = base.slice(0, -1);
  if (base.length > 5 && base.endsWith('ing')) base = undouble(base.slice(0, -3));
  else if (base.length > 4 && base.endsWith('ed')) base = undouble(base.slice(0, -2));
  if (base.length > 5 && base.endsWith('ly')) base = base.slice(0, -2);
  if (base.length > 3 && base.endsWith('e')) base = base.slice(0, -1);
  return base;
}

/** True when two words are one verb or noun in two forms ("love" and "loved", "key" and "keys"), not in two spellings. Symmetric. */
export function isInflection(a: string, b: string): boolean {
  const baseA = BASE_OF.get(a);
  const baseB = BASE_OF.get(b);
  if (baseA === b || baseB === a) return true;
  if (plainStem(a) !== plainStem(b)) return false;
  return endingOf(a) !== endingOf(b) || isWithS(a, b) || isWithS(b, a);
}

function endingOf(word: string): string {
  return /(?:ed|ing)$/u.exec(word)?.[0] ?? '';
}

function isWithS(word: string, base: string): boolean {
  return word === `${base}s` || word === `${base}es` || (base.endsWith('y') && word === `${base.slice(0, -1)}ies`);
}

const ROOT_LENGTH_MIN = 5;
/** Endings that make a noun, adjective or adverb of a verb, and back. */
const ENDINGS = new Set(
  ` al ment ments ion ions tion ation ations ing er or ed y ly ity ness ance ence ent ant ents ants able ible ive ic ical cy
  ist ists ism ian ful ous age ure ures sion s es e ely d ies ency ancy ial ially ied`.split(/\s+/u),
);

/** True when two words are made from one root: "deliver" and "delivery", "idempotent" and "idempotency". Symmetric. */
export function sameRoot(a: string, b: string): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  if (at < ROOT_LENGTH_MIN) return false;
  for (let root = at; root >= ROOT_LENGTH_MIN && root >= at - 2; root -= 1) {
    if (ENDINGS.has(a.slice(root)) && ENDINGS.has(b.slice(root))) return true;
  }
  return false;
}

function undouble(base: string): string {
  const last = base.at(-1) ?? '';
  return base.length > 3 && last === base.at(-2) && !'lsz'.includes(last) ? base.slice(0, -1) : base;
}

function spelling(word: string): string {
  return word
    .replace(/isation/u, 'ization')
    .replace(/is(e|ed|es|ing|er)$/u, 'iz$1')
    .replace(/ys(e|ed|es|ing)$/u, 'yz$1')
    .replace(/(?<=[a-z]{2})our(?=s?$|ed$|ing$|ful$|ite$)/u, 'or')
    .replace(/tre(?=s?$)/u, 'ter')
    .replace(/ll(?=ed$|ing$|er$)/u, 'l')
    .replace(/ll(?=ment$|s?$)/u, 'l')
    .replace(/(?:ae|oe)/gu, 'e');
}

/** Stem → the stem of its group's name, for the inflected forms of the words of a group. */
const STEM_GROUP: ReadonlyMap<string, string> = buildStemGroups();

function buildStemGroups(): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const [word, name] of ALIAS_OF) {
    const own = plainStem(word);
    if (!groups.has(own)) groups.set(own, plainStem(name));
  }
  return groups;
}
