import { BASE_OF } from '../lexicons/irregular.ts';

const ASKS = new Set(['who', 'whom', 'what', 'which']);
const DO = new Set(['do', 'does', 'did', 'dont', 'doesnt', 'didnt']);
/** Forms after which a question word says nothing of subject or object. */
const AUXILIARIES = new Set(
  'is are was were be been am has have had can could will would shall should may might must isnt arent wasnt werent cant'.split(
    ' ',
  ),
);
const BE = new Set('is are was were been being'.split(' '));
const ASKED_WORDS_MAX = 3;

/** True when one asks for the subject and the other for the object: "who manages Bob", "who does Bob manage". Symmetric. */
export function asksDiffer(a: readonly string[], b: readonly string[]): boolean {
  const askedA = askedFor(a);
  const askedB = askedFor(b);
  return askedA !== askedB && askedA !== 'unclear' && askedB !== 'unclear';
}

type Asked = 'subject' | 'object' | 'unclear';

/** What a question with who, what or which asks for: the object stands before "do", the subject before its own verb. */
function askedFor(words: readonly string[]): Asked {
  const at = words.findIndex((word) => ASKS.has(plain(word)));
  if (at < 0) return 'unclear';
  const following = words.slice(at + 1, at + 1 + ASKED_WORDS_MAX).map(plain);
  const verb = following.find((word) => DO.has(word) || AUXILIARIES.has(word));
  if (verb === undefined) return following.length > 0 ? 'subject' : 'unclear';
  if (DO.has(verb)) return 'object';
  return BE.has(verb) ? askedByPassive(words, at) : 'unclear';
}

/** "who was killed by Brutus" asks for the object of killing, "who was Caesar killed by" for its subject. */
function askedByPassive(words: readonly string[], at: number): Asked {
  if (isParticiple(words[at + 2]) && words[at + 3] === 'by') return 'object';
  let end = words.length - 1;
  while (end > at && (words[end] === '.' || words[end] === ',')) end -= 1;
  return words[end] === 'by' && isParticiple(words[end - 1]) ? 'subject' : 'unclear';
}

function isParticiple(word = ''): boolean {
  return word.endsWith('ed') || word.endsWith('en') || BASE_OF.has(word);
}

function plain(word: string): string {
  return word.length > 1 && word.startsWith('^') ? word.slice(1) : word;
}
