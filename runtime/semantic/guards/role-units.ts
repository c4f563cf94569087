import type { Features } from '../feature-set.ts';
import { BASE_OF } from '../lexicons/irregular.ts';
import { remembered } from './remembered.ts';
import { bareWord } from './word-info.ts';

/** A thing or person of a text, and the part it plays. */
export interface RoleUnit {
  /** Stem of the word; persons by their subject form, `my` and its like as `my …`. */
  readonly key: string;
  /** The preposition or conjunction that governs it, empty for subject, verb and object; for `my` and its like what is owned. */
  readonly role: string;
  /** Counts up at commas, "and", "or": units of one group aren't elements of one list, nor in two clauses. */
  readonly group: number;
  /** `w` a thing, `n` a name, `#` a number, `p` a person, `o` an owner, `v` a verb that is grammar elsewhere, `s` a sign that computes. */
  readonly kind: string;
}

const PREPOSITIONS = new Set(
  `from to into onto than for with by in on of over under at about against via per through between among without within during as towards toward
  inside outside behind beside near above below instead`.split(/\s+/u),
);
/** Prepositions that may open a clause. */
const EITHER = new Set('before after since until'.split(' '));
const SUBORDINATORS = new Set('if unless because while although though whenever whether once'.split(' '));
const COORDINATORS = new Set(['&', 'and', 'or', 'nor', 'plus', 'vs', 'versus', '+', '*', '/']);
/** What a clause goes on with after a phrase; in a clause of its own they end nothing. */
const RESUMING = new Set(
  `is are was were am do does did can could will would shall should may might must has have had isnt arent doesnt dont wont cant i we you he she
  they who what which how where why there`.split(/\s+/u),
);
const SUBJECTS = new Set('i we you he she they it my our your his her their the a an'.split(' '));
const DETERMINERS = new Set('the a an my our your his her their this that these those some any its'.split(' '));
const BEFORE_INFINITIVE = new Set(
  `want wants wanted need needs needed like how able going try trying tried have has had way ways possible allowed supposed order best safe easy
  hard ok okay it time what where when which whom decide plan forget me him us them you i and or not legal illegal wise better hoping hope
  love wish ask asked tell told is`.split(/\s+/u),
);
/** "have it mended by". */
const HAVE = new Set('have has had having'.split(' '));
const BE = new Set('is are was were be been being am get gets got getting'.split(' '));

/** Forms of persons: subject form, and whether it stands for an owner where a noun follows. */
const PERSONS: ReadonlyMap<string, string> = new Map(
  [
    'i i me myself',
    'we we us ourselves',
    'he he him himself',
    'she she herself',
    'they they them themselves',
    'you you yourself',
    'someone someone somebody',
  ].flatMap((row) => {
    const [person = '', ...forms] = row.split(' ');
    return forms.map((form): [string, string] => [form, person]);
  }),
);
const OWNERS: ReadonlyMap<string, string> = new Map([
  ['my', 'i'],
  ['our', 'we'],
  ['his', 'he'],
  ['her', 'she'],
  ['their', 'they'],
  ['your', 'you'],
]);
/** Verbs that are grammar or courtesy in most texts. */
const VERBS = new Set(
  'cause causes make makes made get gets got give gives gave show shows tell tells told ask asks asked help helps love loves like likes know knows need needs want wants beat beats'.split(
    ' ',
  ),
);
const COMPUTING = new Set(['-', '<', '>', '^', '%', '÷']);
const OWNED_WITHIN = 3;
const UNITS_MAX = 96;

/** Forms of one word begin alike. */
const SHARED_LETTERS = 3;

/** The units of a text in order, those of a passive as in the active. */
export const roleUnitsOf: (features: Features) => readonly RoleUnit[] = remembered((features) =>
  new RoleReader(features).read(),
);

class RoleReader {
  readonly #features: Features;
  #units: RoleUnit[] = [];
  #role = '';
  #clause = '';
  #group = 0;
  /** Index of the first unit of the clause. */
  #clauseStart = 0;
  /** Index of the first unit of a passive's agent; -1: none is open. */
  #agentStart = -1;

  constructor(features: Features) {
    this.#features = features;
  }

  read(): readonly RoleUnit[] {
    const { words } = this.#features;
    for (let at = 0; at < words.length && this.#units.length < UNITS_MAX; at += 1) {
      const word = bareWord(words[at] ?? '');
      if (!this.#turn(word, at)) this.#take(word, at);
    }
    this.#closeAgent();
    return this.#units;
  }

  /** Words that end or open a phrase. */
  #turn(word: string, at: number): boolean {
    if (word === '.' || word === 'but') this.#startClause('');
    else if (word === ',') this.#pause();
    else if (COORDINATORS.has(word) || this.#isBetweenNumbers(word, at)) this.#group += 1;
    else if (SUBORDINATORS.has(word) || this.#opensClause(word, at)) this.#startClause(word);
    else if (word === 'to' && this.#isCompared(at)) return true;
    else if (word === 'to' && this.#isInfinitive(at)) this.#resume();
    else if (word === 'from' && this.#isDone(at)) this.#resume();
    else if (PREPOSITIONS.has(word) || EITHER.has(word)) this.#startPhrase(word, at);
    else return false;
    return true;
  }

  #take(word: string, at: number): void {
    if (RESUMING.has(word)) this.#resume();
    const { kinds, stems, words } = this.#features;
    const kind = kinds[at] ?? 'f';
    const person = PERSONS.get(word) ?? (word === 'her' && !this.#owns(at) ? 'she' : undefined);
    if (person !== undefined) this.#add(person, 'p', this.#role);
    else if (OWNERS.has(word)) this.#addOwner(word, at);
    else if (VERBS.has(word)) this.#add(stems[at] ?? word, 'v', this.#role);
    else if (kind === 'w' || kind === 'i' || kind === 'n')
      this.#add(this.#keyAt(at, word), kind === 'n' ? 'n' : 'w', this.#role);
    else if (kind === '#') this.#add(words[at] ?? '', '#', this.#role);
    else if (COMPUTING.has(word)) this.#add(word, 's', this.#role);
  }

  /** Its stem, unless the text has another word that shares it by meaning: "from the clinic to the hospital" are two places. */
  #keyAt(at: number, word: string): string {
    const { stems, words } = this.#features;
    const key = stems[at] ?? word;
    const start = word.slice(0, SHARED_LETTERS);
    for (let other = stems.indexOf(key); other >= 0; other = stems.indexOf(key, other + 1)) {
      if (!bareWord(words[other] ?? '').startsWith(start)) return word;
    }
    return key;
  }

  #add(key: string, kind: string, role: string): void {
    this.#units.push({ key, role, group: this.#group, kind });
  }

  #addOwner(word: string, at: number): void {
    const owned = this.#ownedAt(at);
    if (owned !== '') this.#add(`my ${OWNERS.get(word) ?? word}`, 'o', `my ${owned}`);
  }

  #owns(at: number): boolean {
    return this.#ownedAt(at) !== '';
  }

  /** Stem of the next word of meaning in the phrase. */
  #ownedAt(at: number): string {
    const { kinds, stems } = this.#features;
    for (let next = at + 1; next <= at + OWNED_WITHIN; next += 1) {
      const kind = kinds[next] ?? ',';
      if (kind === 'w' || kind === 'n' || kind === 'i') return stems[next] ?? '';
      if (kind !== 'f' || next === at + 1) return '';
    }
    return '';
  }

  #startClause(role: string): void {
    this.#closeAgent();
    this.#group += 1;
    this.#clause = role;
    this.#role = role;
    this.#clauseStart = this.#units.length;
  }

  /** A comma ends a phrase or clause that came first; elsewhere it stands in a list. */
  #pause(): void {
    this.#group += 1;
    this.#closeAgent();
    if (
      this.#role !== '' &&
      this.#units.slice(this.#clauseStart).every(({ role, kind }) => role !== '' && kind !== 'v')
    )
      this.#startClause('');
  }

  #resume(): void {
    this.#closeAgent();
    this.#role = this.#clause;
  }

  #startPhrase(word: string, at: number): void {
    this.#closeAgent();
    if (word === 'by' && this.#isPassive(at)) {
      this.#role = this.#clause;
      this.#agentStart = this.#units.length;
    } else this.#role = word;
  }

  /** Puts "by X" before the verb, and what stood before the verb after it. */
  #closeAgent(): void {
    const from = this.#agentStart;
    if (from < 0) return;
    this.#agentStart = -1;
    const units = this.#units;
    if (from >= units.length || from - 1 < this.#clauseStart) return;
    const agent = units.slice(from);
    const verb = units[from - 1];
    const before = units.slice(this.#clauseStart, from - 1);
    const active = verb === undefined ? agent : [...agent, verb, ...before];
    this.#units = [...units.slice(0, this.#clauseStart), ...active];
  }

  #isPassive(at: number): boolean {
    const { words } = this.#features;
    const verb = bareWord(words[at - 1] ?? '');
    if (!(verb.endsWith('ed') || verb.endsWith('en') || BASE_OF.has(verb))) return false;
    for (let before = at - 2; before >= 0; before -= 1) {
      const word = words[before] ?? '';
      if (word === '.' || word === ',') return false;
      if (BE.has(word) || (HAVE.has(word) && before < at - 2)) return true;
    }
    return false;
  }

  #isInfinitive(at: number): boolean {
    const { words, kinds } = this.#features;
    const kind = kinds[at + 1];
    const next = bareWord(words[at + 1] ?? '');
    if (kind === '#' || kind === 'n' || DETERMINERS.has(next)) return false;
    const before = bareWord(words[at - 1] ?? '');
    return (
      at === 0 ||
      before === ',' ||
      next === 'be' ||
      BEFORE_INFINITIVE.has(before) ||
      (before.endsWith('er') && words.includes('than'))
    );
  }

  /** "stop someone from reading". */
  #isDone(at: number): boolean {
    const { words, kinds } = this.#features;
    return kinds[at + 1] === 'w' && (words[at + 1] ?? '').endsWith('ing');
  }

  /** "cheaper to fly than to drive": what is done stands on one side of "than". */
  #isCompared(at: number): boolean {
    return bareWord(this.#features.words[at - 1] ?? '') === 'than';
  }

  #opensClause(word: string, at: number): boolean {
    const next = bareWord(this.#features.words[at + 1] ?? '');
    if (EITHER.has(word)) return SUBJECTS.has(next) && !DETERMINERS.has(next);
    if (word === 'when') return SUBJECTS.has(next) || (at > 0 && !RESUMING.has(next));
    const before = this.#features.kinds[at - 1];
    const relative = word === 'that' || word === 'who' || word === 'which';
    return relative && (before === 'w' || before === 'n') && at > 1;
  }

  /** "2 m by 3 m", "6 times 9": what stands on which side doesn't matter. */
  #isBetweenNumbers(word: string, at: number): boolean {
    if (word !== 'times' && word !== 'x' && word !== 'by') return false;
    const { kinds, words } = this.#features;
    if (kinds[at - 1] !== '#' || kinds[at + 1] !== '#') return false;
    return word !== 'by' || !words.some((other) => other.startsWith('divid'));
  }
}
