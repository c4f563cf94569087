/** Pronouns by person: who acts on whom shows in the order in which persons are named. */
const PERSONS: ReadonlyMap<string, string> = new Map(
  [
    ['i', 'i me my mine myself'],
    ['you', 'you your yours yourself'],
    ['he', 'he him his himself'],
    ['she', 'she her hers herself'],
    ['we', 'we us our ours ourselves'],
    ['they', 'they them their theirs themselves'],
  ].flatMap(([person = '', forms = '']) => forms.split(' ').map((form) => [form, person] as const)),
);
const ASKS = new Set(['who', 'whom', 'what', 'which']);
const DO = new Set(['do', 'does', 'did', 'dont', 'doesnt', 'didnt']);
/** Forms after which a question word says nothing of subject or object. */
const AUXILIARIES = new Set(
  'is are was were be been am has have had can could will would shall should may might must isnt arent wasnt werent cant'.split(
    ' ',
  ),
);
const ASKED_WORDS_MAX = 3;
const WORDS_MAX = 160;

/** True when two texts name the same persons in another order: "does she owe him", "does he owe her". Symmetric. */
export function personsDiffer(a: readonly string[], b: readonly string[]): boolean {
  return a.length <= WORDS_MAX && b.length <= WORDS_MAX && personsSwapped(personsOf(a), personsOf(b));
}

/** True when one asks for the subject and the other for the object: "who manages Bob", "who does Bob manage". Symmetric. */
export function asksDiffer(a: readonly string[], b: readonly string[]): boolean {
  const askedA = askedFor(a);
  const askedB = askedFor(b);
  return askedA !== askedB && askedA !== 'unclear' && askedB !== 'unclear';
}

function personsOf(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => PERSONS.get(plain(word)) ?? []);
}

function personsSwapped(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length || a.every((person, index) => person === b[index])) return false;
  if (a.length > 2 && isTurned(a, b)) return false;
  return [...a].sort(byName).join(' ') === [...b].sort(byName).join(' ');
}

/** A clause moved to the other end takes its persons along. */
function isTurned(a: readonly string[], b: readonly string[]): boolean {
  return a.some((_, by) => a.every((person, index) => person === b[(index + by) % b.length]));
}

type Asked = 'subject' | 'object' | 'unclear';

/** What a question with who, what or which asks for: the object stands before "do", the subject before its own verb. */
function askedFor(words: readonly string[]): Asked {
  const at = words.findIndex((word) => ASKS.has(plain(word)));
  if (at < 0) return 'unclear';
  const following = words.slice(at + 1, at + 1 + ASKED_WORDS_MAX).map(plain);
  const verb = following.find((word) => DO.has(word) || AUXILIARIES.has(word));
  if (verb === undefined) return following.length > 0 ? 'subject' : 'unclear';
  return DO.has(verb) ? 'object' : 'unclear';
}

function byName(one: string, two: string): number {
  return one < two ? -1 : one > two ? 1 : 0;
}

function plain(word: string): string {
  return word.length > 1 && word.startsWith('^') ? word.slice(1) : word;
}
