import { BASE_OF } from '../lexicons/irregular.ts';

const ASKS = new Set(['who', 'whom', 'what', 'which']);
const DO = new Set(['do', 'does', 'did', 'dont', 'doesnt', 'didnt']);
/** Forms after which a question word says nothing of subject or object. */
const AUXILIARIES = new Set(
  'is are was were be been am has have had can could will would shall should may might must isnt arent wasnt werent cant'.split(
    ' ',
  ),
);
const BE = new Set('is are was were being been am'.split(' '));
const DETERMINERS = new Set('my our your his her their the a an'.split(' '));
const PERSONS = new Set('i we you he she they it'.split(' '));
const HAVE = new Set(['have', 'has', 'had']);
const ASKED_WORDS_MAX = 4;
const CLAUSE_WORDS_MAX = 5;

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
  const place = following.findIndex((word) => DO.has(word) || AUXILIARIES.has(word));
  if (PERSONS.has(following[0] ?? '')) return 'object';
  if (hasSubject(words, at + 1, at + 1 + (place < 0 ? CLAUSE_WORDS_MAX : place))) return 'unclear';
  const verb = following[place];
  if (verb === undefined) return following.length > 0 ? 'subject' : 'unclear';
  if (DO.has(verb)) return 'object';
  if (BE.has(verb)) return askedByPassive(words, at) ?? askedByComparison(words) ?? askedByForm(words, at + 2 + place);
  return PERSONS.has(plain(words[at + 2 + place] ?? '')) ? 'object' : askedOfHave(words, at + 1 + place);
}

/** "who is calling me" and "whom am I calling". */
function askedByForm(words: readonly string[], at: number): Asked {
  if (words[at]?.endsWith('ing') === true) return 'subject';
  return PERSONS.has(plain(words[at] ?? '')) && words[at + 1]?.endsWith('ing') === true ? 'object' : 'unclear';
}

/** "who has blocked me"; nothing follows from "who has time". */
function askedOfHave(words: readonly string[], at: number): Asked {
  return HAVE.has(words[at] ?? '') && isParticiple(words[at + 1]) ? 'subject' : 'unclear';
}

/** True where a clause begins with its subject: "what a day costs". */
function hasSubject(words: readonly string[], from: number, to: number): boolean {
  if (DETERMINERS.has(plain(words[from] ?? ''))) return true;
  for (let at = from; at < to; at += 1) {
    const word = plain(words[at] ?? '.');
    if (word === ',' || word === '.') return false;
    if (PERSONS.has(word)) return true;
  }
  return false;
}

/** "who was killed by Brutus" asks for the object of killing, "who was Caesar killed by" for its subject. */
function askedByPassive(words: readonly string[], at: number): Asked | undefined {
  if (isParticiple(words[at + 2]) && words[at + 3] === 'by') return 'object';
  const end = lastOf(words);
  return words[end] === 'by' && isParticiple(words[end - 1]) ? 'subject' : undefined;
}

/** "which is older than Rome" asks for what is compared, "which is Rome older than" for what it is compared with. */
function askedByComparison(words: readonly string[]): Asked | undefined {
  const than = words.lastIndexOf('than');
  if (than < 0) return undefined;
  return than === lastOf(words) ? 'object' : 'subject';
}

/** Place of the last word. */
function lastOf(words: readonly string[]): number {
  let end = words.length - 1;
  while (end > 0 && (words[end] === '.' || words[end] === ',')) end -= 1;
  return end;
}

function isParticiple(word = ''): boolean {
  return word.endsWith('ed') || word.endsWith('en') || BASE_OF.has(word);
}

function plain(word: string): string {
  return word.length > 1 && word.startsWith('^') ? word.slice(1) : word;
}
