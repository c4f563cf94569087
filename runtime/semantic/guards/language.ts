import type { Features } from '../feature-set.ts';
import { isKnownWord } from '../lexicons/vocabulary.ts';
import { fold } from './tokens.ts';

/** The commonest words of each language that are no words of the others. Origin: written for this project. */
const COMMONEST: Readonly<Record<string, string>> = {
  en: 'the is are and what how do does can my of to in for with i you it when where why who which should this that have if please a on not at from',
  de: 'der die das und ist ich nicht wie was kann mein meine mit auf den dem ein eine einen für fur zu von wo wann warum wer welche darf soll sie es im bei gibt mir man oder wird bin',
  es: 'el la los las es que qué cómo como puedo mi mis con una un para por del en de cuándo cuando dónde donde quién cuál cual está esta yo tengo hay lo al',
  fr: 'le la les est je que quel quelle comment puis mon ma mes avec un une pour des du dans en de quand où ou qui pourquoi il elle vous ne pas au sur',
  it: 'il lo la gli le che come posso mio mia con un una per di del della in quando dove chi perché sono non al nel quanto',
  pt: 'os que como posso meu minha com um uma para por do da em quando onde quem porque não nao na qual eu tenho',
  nl: 'de het een is en ik niet hoe wat kan mijn met op van voor te waar wanneer waarom wie welke moet je u er bij dit dat zijn',
};

const LANGUAGES_OF: ReadonlyMap<string, readonly string[]> = buildLanguages();

function buildLanguages(): ReadonlyMap<string, readonly string[]> {
  const languages = new Map<string, string[]>();
  for (const [language, words] of Object.entries(COMMONEST)) {
    for (const word of new Set(fold(words).split(' '))) {
      const own = languages.get(word) ?? [];
      own.push(language);
      languages.set(word, own);
    }
  }
  return languages;
}

const LATIN = /^[\p{Script=Latin}\p{N}]/u;
const LETTER = /^\p{L}/u;
const WORDS_MAX = 200;
/** Fewer words than this may all be names. */
const JUDGED_WORDS_MIN = 4;

/** Language of a text, told by its commonest words and its script: `en`, one of the others that are known, `script` for another script than Latin, or `unknown`. */
export function languageOf(words: readonly string[]): string {
  const votes = new Map<string, number>();
  let letters = 0;
  let foreign = 0;
  for (let at = 0; at < Math.min(words.length, WORDS_MAX); at += 1) {
    const marked = words[at] ?? '';
    const word = marked.startsWith('^') ? marked.slice(1) : marked;
    if (!LETTER.test(word)) continue;
    letters += 1;
    if (!LATIN.test(word)) foreign += 1;
    const languages = LANGUAGES_OF.get(word) ?? [];
    for (const language of languages) votes.set(language, (votes.get(language) ?? 0) + 1 / languages.length);
  }
  if (foreign * 2 > letters) return 'script';
  const english = votes.get('en') ?? 0;
  let best = 'en';
  let most = english;
  for (const [language, count] of votes) {
    if (count > most && count >= 1 && count - english >= 0.5) {
      best = language;
      most = count;
    }
  }
  if (best !== 'en') return most < SURE_VOTES && mostlyKnown(words) ? 'en' : best;
  return most > 0 || letters < JUDGED_WORDS_MIN || words.some(isKnownWord) ? 'en' : 'unknown';
}

const SURE_VOTES = 3;

/** True when half of the words or more are English ones; a text of keywords has none of the commonest words, or one by chance. */
export function mostlyKnown(words: readonly string[]): boolean {
  const letters = words.filter((word) => LETTER.test(word));
  return letters.filter(isKnownWord).length * 2 >= letters.length;
}

/** True when two texts are in different languages, as far as both are known. Symmetric. */
export function languagesDiffer(a: Features, b: Features): boolean {
  return a.language !== b.language && a.language !== 'unknown' && b.language !== 'unknown';
}
