import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { compare } from './compare.ts';
import { bareWord } from './word-info.ts';
import { isTrouble } from './negation.ts';

const PERSON_WORDS = new Set('person people'.split(' '));
const PLACE_WORDS = new Set('place location address'.split(' '));
const TIME_WORDS = new Set('time date day year month hour week weekday century'.split(' '));
const SPAN_UNITS = new Set(
  'second minute hour day week month year night seconds minutes hours days weeks months years nights'.split(' '),
);
const REASON_WORDS = new Set('reason cause purpose'.split(' '));

/** What a text asks for, sorted: who, when, where, why, how, amount, span, frequency or another measure; `what` where there is nothing firmer. */
export function extractQuestions(words: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (let at = 0; at < words.length; at += 1) {
    const word = bareWord(words[at] ?? '');
    const asked = askedBy(word, words, at);
    if (asked !== '') found.add(asked);
  }
  if (found.size > 1) found.delete('what');
  if (found.has('amount') && words.some(isPrice)) found.add('price');
  if (found.size === 0) {
    if (asksWhether(words)) found.add('whether');
    else if (isRequest(words)) found.add('request');
  }
  return [...found].sort();
}

const PRICE = /^(?:costs?|costing|price|pay|paid|charged?|charges|fees?|worth)$/u;

function isPrice(word: string): boolean {
  return PRICE.test(word);
}

const WHETHER = new Set('should must is are am was were do does did has have had will would'.split(' '));
const ASKS_READER = new Set(['will', 'would', 'do', 'did', 'have']);

/** Yes or no: a sentence that begins with an auxiliary. What may be done is asked by "can" and "how can" alike, and isn't among them. */
function asksWhether(words: readonly string[]): boolean {
  return words.some((word, at) => {
    if (!WHETHER.has(word) || (at > 0 && words[at - 1] !== '.' && words[at - 1] !== ',')) return false;
    const next = words[at + 1] ?? '';
    if (next === 'you') return !ASKS_READER.has(word) || words[at + 2] === 'have';
    if (next === 'there') return !words.slice(at + 2, at + 5).some((other) => OPENING.has(other));
    return next !== 'it' || words[at + 2] !== 'possible';
  });
}

/** "is there a way to": how; "is there a reason": why. */
const OPENING = new Set('way ways reason chance something anything somewhere someone'.split(' '));

const REQUESTED = new Set(
  `freeze unfreeze block unblock lock unlock pay transfer send book make set schedule reschedule order buy cancel change remove add delete turn open
  close call play start stop reset update increase decrease raise lower report request apply convert translate write`.split(
    /\s+/u,
  ),
);
const BEFORE_REQUEST = new Set('please i want need would like to wanna can could you help me hi hello hey'.split(' '));
const REQUEST_WITHIN = 6;

/** "please freeze my card", "I want to pay my bill": something is to be done. */
function isRequest(words: readonly string[]): boolean {
  for (let at = 0; at < Math.min(words.length, REQUEST_WITHIN); at += 1) {
    const word = words[at] ?? '';
    if (REQUESTED.has(word)) return true;
    if (word !== ',' && !BEFORE_REQUEST.has(word)) return false;
  }
  return false;
}

/** What a request is never taken for: what is asked about it. */
const ABOUT_REQUESTS = new Set(['why', 'amount', 'when', 'who', 'span']);

function askedBy(word: string, words: readonly string[], at: number): string {
  switch (word) {
    case 'who':
    case 'whom':
      return 'who';
    case 'when':
      return isAsking(words, at) ? 'when' : '';
    case 'where':
      return 'where';
    case 'why':
      return 'why';
    case 'how':
      return askedByHow(words, at);
    case 'what':
    case 'which':
      return askedByNoun(nextWord(words, at)) || askedForReason(words, at) || 'what';
    default:
      return '';
  }
}

/** "When I pay, …" and "when children travel, what …" set a condition; "when do I pay" asks. */
function isAsking(words: readonly string[], at: number): boolean {
  const after = bareWord(words[at + 1] ?? '');
  if (AUXILIARIES.has(after)) return true;
  if (SUBJECTS.has(after) || words.some((word, index) => index !== at && ASKING.has(bareWord(word)))) return false;
  return at === 0 || words[at - 1] === '.' || words[at - 1] === ',';
}

const ASKING = new Set('who what which where why how can should do does is are'.split(' '));
const AUXILIARIES = new Set(
  'is are was were do does did will would can could should shall has have had am must may'.split(' '),
);
const SUBJECTS = new Set('i you we they he she it my your the a this'.split(' '));

function askedByHow(words: readonly string[], at: number): string {
  const next = nextWord(words, at);
  if (next === 'much') return bareWord(words[at + 2] ?? '') === 'time' ? 'span' : 'amount';
  if (next === 'many') return isSpan(words, at + 2) ? 'span' : 'amount';
  if (next === 'long') return 'span';
  if (next === 'often' || next === 'frequently' || next === 'regularly') return 'frequency';
  if (next === 'soon' || next === 'early' || next === 'late') return 'when';
  if (next === 'come') return 'why';
  if (MEASURES.has(next)) return next;
  return 'how';
}

function isSpan(words: readonly string[], at: number): boolean {
  const word = words[at] ?? '';
  return SPAN_UNITS.has(word) || word.startsWith('=unit:time') || word.startsWith('=unit:month');
}

const MEASURES = new Set('far tall high big large old heavy deep wide fast hot cold strong close'.split(' '));

function askedByNoun(next: string): string {
  if (PERSON_WORDS.has(next)) return 'who';
  if (PLACE_WORDS.has(next)) return 'where';
  if (TIME_WORDS.has(next) || next.startsWith('=unit:time') || next.startsWith('=unit:month')) return 'when';
  return REASON_WORDS.has(next) || next === 'makes' || next === 'causes' ? 'why' : '';
}

const BEFORE_REASON = new Set('is was are were the a main real point'.split(' '));
const REASON_WITHIN = 4;

/** "what's the reason", "what is the point of", "what made", "what led to". */
function askedForReason(words: readonly string[], at: number): string {
  for (let next = at + 1; next <= at + REASON_WITHIN; next += 1) {
    const word = bareWord(words[next] ?? '');
    if (word === 'reason' || (word === 'point' && words[next + 1] === 'of')) return 'why';
    if (next === at + 1 && (word === 'made' || (word === 'led' && words[next + 1] === 'to'))) return 'why';
    if (!BEFORE_REASON.has(word)) return '';
  }
  return '';
}

function nextWord(words: readonly string[], at: number): string {
  return bareWord(words[at + 1] ?? '');
}

/** Pairs that one question may be asked by in two wordings; they count only where hardly anything else differs. */
const LOOSE = new Set([
  'when span',
  'how where',
  'how why',
  'amount how',
  'amount span',
  'frequency span',
  'frequency when',
  'how who',
  'amount frequency',
  'how span',
  'frequency how',
  'how when',
  'close far',
  'far span',
]);

/** Pairs of one question in two wordings. */
const TOLERATED = new Set(['how where', 'span when', 'far span', 'amount span', 'frequency span']);
/** "what" and these are apart where the texts have all other words in common. */
const VAGUE = new Set(['what who', 'what why', 'what where', 'what when', 'when what', 'where what', 'why what']);

/** How far two texts ask for different things, in [0, 1]: who and when are 1, how and where 0.5, one that asks nothing 0. Symmetric. */
export function questionConflict(a: Features, b: Features): number {
  if (a.questions.length === 0 || b.questions.length === 0) return 0;
  if (a.questions.some((question) => b.questions.includes(question))) return 0;
  const [one = '', two = ''] = [a.questions.join(' '), b.questions.join(' ')].sort();
  if (a.questions.includes('request') || b.questions.includes('request')) return isAskedAbout(a, b) ? 0.5 : 0;
  if (one === 'whether' || two === 'whether') return 0.25;
  if (one === 'what' || two === 'what') return VAGUE.has(`${one} ${two}`) ? 0.25 : 0;
  if (isSpanAndPrice(a, b) || isSpanAndPrice(b, a)) return 1;
  if (TOLERATED.has(`${one} ${two}`)) return 0.25;
  const loose = a.questions.some((one) =>
    b.questions.some((two) => LOOSE.has(one < two ? `${one} ${two}` : `${two} ${one}`)),
  );
  return loose ? 0.5 : 1;
}

function isAskedOfRequest(a: Features, b: Features): boolean {
  return a.questions.includes('request') || b.questions.includes('request');
}

function isAskedAbout(a: Features, b: Features): boolean {
  return a.questions.some(isOfRequests) || b.questions.some(isOfRequests);
}

function isOfRequests(question: string): boolean {
  return ABOUT_REQUESTS.has(question);
}

function isSpanAndPrice(a: Features, b: Features): boolean {
  return a.questions.includes('span') && b.questions.includes('price');
}

const ASKED_SHARE_MIN = 0.3;
const WHETHER_SHARE_MIN = 0.6;

/** True when two texts on one subject ask for different things of it. Symmetric. */
export function questionsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const conflict = questionConflict(a, b);
  if (asksMeaning(a) !== asksMeaning(b) && (asksForSteps(a) || asksForSteps(b))) {
    return compare(a, b, lexicon).share >= ASKED_SHARE_MIN;
  }
  if (conflict === 0) return false;
  const compared = compare(a, b, lexicon);
  if (Math.min(compared.sharedA, compared.sharedB) === 0) return false;
  if (a.questions.includes('whether') || b.questions.includes('whether'))
    return compared.restA + compared.restB === 0 && compared.share >= WHETHER_SHARE_MIN;
  if (isTrouble(a, b) || isTrouble(b, a)) return false;
  if (conflict === 0.25) {
    const rest = compared.restA + compared.restB;
    return rest === 0 ? isVague(a, b) || areOfThings(a, b) : rest === 1 && isVague(a, b);
  }
  return (
    compared.near ||
    ((conflict === 1 || isHowAndWhy(a, b) || isAskedOfRequest(a, b)) && compared.share >= ASKED_SHARE_MIN)
  );
}

const IS_OR_ARE = new Set(['is', 'are', 'does']);
const INDEFINITE = new Set(['a', 'an']);
/** "what is a good way of paying" asks how, and "what is a fair price" for a judgement. */
const OF_STEPS = new Set('way ways method methods process procedure means good best fair right step steps'.split(' '));

/** "what is a virtual card", "what does a virtual card do": what something is, not what to do about it. */
function asksMeaning({ words }: Features): boolean {
  const at = words.indexOf('what');
  if (at < 0 || !IS_OR_ARE.has(words[at + 1] ?? '') || !INDEFINITE.has(words[at + 2] ?? '')) return false;
  return !words.some((word) => word === 'to' || OF_STEPS.has(word) || FIRST_PERSON.has(word));
}

const FIRST_PERSON = new Set(['i', 'we']);

/** "what do I do to get one", "how can I get one": what its asker has to do. */
function asksForSteps({ words }: Features): boolean {
  const person = words.findIndex((word) => FIRST_PERSON.has(word));
  if (person < 0) return false;
  return words.includes('how') || (words.includes('what') && words.indexOf('to', person) > 0);
}

const PERSONS = new Set('i we you one my our your me us someone people'.split(' '));

/** "Where can I pay?" asks what "How can I pay?" does; "Where does it grow?" and "How does it grow?" are two questions. */
function areOfThings(a: Features, b: Features): boolean {
  const isHow = a.questions.includes('how') !== b.questions.includes('how');
  const isWhere = a.questions.includes('where') !== b.questions.includes('where');
  return isHow && isWhere && !a.words.some((word) => PERSONS.has(word)) && !b.words.some((word) => PERSONS.has(word));
}

/** "how do I keep it from rusting" and "why does it rust": no denial makes trouble of either. */
function isHowAndWhy(a: Features, b: Features): boolean {
  if (a.negations.length > 0 || b.negations.length > 0 || a.questions.length !== 1 || b.questions.length !== 1)
    return false;
  const [one, two] = [a.questions[0], b.questions[0]];
  return (one === 'how' && two === 'why') || (one === 'why' && two === 'how');
}

function isVague(a: Features, b: Features): boolean {
  return a.questions.includes('what') !== b.questions.includes('what');
}
