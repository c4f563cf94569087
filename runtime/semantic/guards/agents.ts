import type { Features } from '../feature-set.ts';
import { ACTOR_WORDS, OWNING_WORDS } from '../lexicons/actors.ts';
import { BASE_OF } from '../lexicons/irregular.ts';
import { remembered } from './remembered.ts';
import { bareWord } from './word-info.ts';
import { stem } from './word-match.ts';

/** Who does what, and whose is what: verb or thing → the one who does or has it. Only what a text says once and clearly. */
interface Parts {
  readonly agents: ReadonlyMap<string, string>;
  readonly owners: ReadonlyMap<string, string>;
  /** All whom the text speaks of. */
  readonly named: ReadonlySet<string>;
}

/** The speaker, and someone spoken of as he, she or they; others go by the stem of their word. */
const SPEAKER = 'i';
const THIRD = 'they';
const UNCLEAR = '';

const PERSONS: ReadonlyMap<string, string> = new Map([
  ...'i me my mine myself we us our ours'.split(' ').map((word): [string, string] => [word, SPEAKER]),
  ...'he him his she her hers they them their theirs'.split(' ').map((word): [string, string] => [word, THIRD]),
]);
const SUBJECT_FORMS = new Set('i we he she they'.split(' '));
const OWNER_FORMS = new Set('my our his her their'.split(' '));
const ACTORS = new Set(ACTOR_WORDS.map(stem));
const OWNING = new Set(OWNING_WORDS.map(stem));
/** Done by each of two to the other: "can my doctor meet me", "can I meet my doctor". */
const MUTUAL = new Set('meet talk speak chat agree marry date share match differ interact'.split(' ').map(stem));

const DETERMINERS = new Set('the a an my our your his her their this that these those any some every each'.split(' '));
const AUXILIARIES = new Set(
  `can could will would shall should may might must do does did dont doesnt didnt cant wont wouldnt couldnt shouldnt cannot have has had`.split(
    ' ',
  ),
);
const BE = new Set('is are was were be been being am'.split(' '));
const BETWEEN = new Set('not never always just also still already ever often usually sometimes only to'.split(' '));
/** After these comes who does what follows: "let my friend drive", "make the clerk wait". */
const CAUSING = new Set('let lets make makes made help helps have has had watch see'.split(' '));
/** After these comes who does what a form in "-ing" says: "stop my friend calling". */
const STOPPING = new Set('stop prevent keep see hear catch'.split(' '));
/** Verbs that go on with another one, whose agent is theirs: "keeps using", "want to cancel". */
const GOING_ON = new Set(
  `keep keeps kept want wants wanted need needs needed try tries tried trying start starts started stop stops stopped refuse refuses refused able
  allowed going supposed plan planning like have has had`.split(/\s+/u),
);
const OF_GROUP = new Set('in at of from on behind beside above below near'.split(' '));
const PHRASE_WORDS_MAX = 4;
const WORDS_MAX = 160;

/**
 * True when two have changed parts: what one does in one text the other does in the other, and both texts speak of both ("can the hotel cancel
 * my booking", "can I cancel my booking with the hotel"); or so with what is whose. `even`: the texts speak of what two do with each other, so
 * that it says nothing which of two others comes first. Symmetric.
 */
export function partsChanged(a: Features, b: Features, even: boolean): boolean {
  const one = partsOf(a);
  const two = partsOf(b);
  if (one.named.size < 2 || two.named.size < 2) return false;
  return holdersChanged('agents', one, two, even) || holdersChanged('owners', one, two, even);
}

function holdersChanged(part: 'agents' | 'owners', one: Parts, two: Parts, even: boolean): boolean {
  for (const [what, holder] of one[part]) {
    const other = two[part].get(what);
    if (other === undefined || other === holder || holder === UNCLEAR || other === UNCLEAR) continue;
    const speaks = holder === SPEAKER || other === SPEAKER;
    if (!speaks && (even || holder === THIRD || other === THIRD)) continue;
    if (isNamed(other, one) && isNamed(holder, two)) return true;
  }
  return false;
}

/** "She" may be anyone but the speaker. */
function isNamed(holder: string, { named }: Parts): boolean {
  if (named.has(holder)) return true;
  if (holder === SPEAKER) return false;
  return holder === THIRD ? named.size > (named.has(SPEAKER) ? 1 : 0) : named.has(THIRD);
}

const partsOf: (features: Features) => Parts = remembered((features) => new PartsReader(features).read());

class PartsReader {
  readonly #words: readonly string[];
  readonly #features: Features;

  constructor(features: Features) {
    this.#features = features;
    this.#words = features.words.map(bareWord);
  }

  read(): Parts {
    const agents = new Map<string, string>();
    const owners = new Map<string, string>();
    const named = new Set<string>();
    const { kinds, stems } = this.#features;
    for (let at = 0; at < Math.min(this.#words.length, WORDS_MAX); at += 1) {
      const word = this.#words[at] ?? '';
      const key = stems[at] ?? word;
      const person = PERSONS.get(word) ?? (ACTORS.has(key) ? key : undefined);
      if (person !== undefined) named.add(person);
      const kind = kinds[at];
      if (kind === ',' || kind === '#' || DETERMINERS.has(word) || PERSONS.has(word)) continue;
      const agent = MUTUAL.has(key) ? undefined : this.#agentOf(at);
      if (agent !== undefined) note(agents, key, agent);
      const owner = kind === 'w' ? this.#ownerOf(at) : undefined;
      if (owner !== undefined) note(owners, key, owner);
    }
    return { agents, owners, named };
  }

  /** Who does what the word at a place says, where it is a verb. */
  #agentOf(at: number): string | undefined {
    const verb = this.#words[at] ?? '';
    if (AUXILIARIES.has(verb) || BE.has(verb) || BETWEEN.has(verb)) return undefined;
    let before = at - 1;
    let passive = false;
    while (before >= 0) {
      const word = this.#words[before] ?? '';
      const goesOn = GOING_ON.has(word) && before < at && !isAuxiliaryAt(this.#words, before);
      if (BE.has(word)) passive ||= !verb.endsWith('ing') && before === at - 1;
      else if (!BETWEEN.has(word) && !AUXILIARIES.has(word) && !goesOn) break;
      before -= 1;
    }
    if (passive && isParticiple(verb)) return this.#agentAfter(at);
    const word = this.#words[before] ?? '';
    if (SUBJECT_FORMS.has(word)) return PERSONS.get(word);
    return this.#actorBefore(at, before);
  }

  /** "cancelled by the hotel". */
  #agentAfter(at: number): string | undefined {
    if (this.#words[at + 1] !== 'by') return undefined;
    const next = DETERMINERS.has(this.#words[at + 2] ?? '') ? at + 3 : at + 2;
    const word = this.#words[next] ?? '';
    return PERSONS.get(word) ?? this.#actorAt(next);
  }

  #actorAt(at: number): string | undefined {
    const key = this.#features.stems[at] ?? '';
    return ACTORS.has(key) ? key : undefined;
  }

  /** The actor whose phrase ends right before a verb, where the phrase can be a subject. */
  #actorBefore(at: number, end: number): string | undefined {
    const actor = this.#actorAt(end) ?? this.#headOfGroup(end);
    if (actor === undefined) return undefined;
    let opener = this.#actorAt(end) === undefined ? this.#groupStart(end) - 2 : end - 1;
    if (!DETERMINERS.has(this.#words[opener] ?? '') && DETERMINERS.has(this.#words[opener - 1] ?? '')) opener -= 1;
    if (DETERMINERS.has(this.#words[opener] ?? '')) opener -= 1;
    const before = this.#words[opener] ?? '.';
    const verb = this.#words[at] ?? '';
    if (AUXILIARIES.has(before) || CAUSING.has(before)) return isBare(verb) ? actor : undefined;
    if (BE.has(before) || STOPPING.has(before)) return verb.endsWith('ing') ? actor : undefined;
    if (PREPOSED.has(before)) return undefined;
    return isFinite(verb) || end < at - 1 ? actor : undefined;
  }

  /** "a colleague in my team": the actor before a short phrase that ends here. */
  #headOfGroup(end: number): string | undefined {
    const start = this.#groupStart(end);
    return start > 0 ? this.#actorAt(start - 1) : undefined;
  }

  #groupStart(end: number): number {
    for (let at = end; at > 0 && at > end - PHRASE_WORDS_MAX; at -= 1) {
      if (OF_GROUP.has(this.#words[at] ?? '')) return at;
      if (this.#features.kinds[at] === ',') return -1;
    }
    return -1;
  }

  /** Whose the thing at a place is. */
  #ownerOf(at: number): string | undefined {
    const before = this.#words[at - 1] ?? '';
    if (OWNER_FORMS.has(before)) return PERSONS.get(before);
    const key = this.#features.stems[at - 1] ?? '';
    return OWNING.has(key) && DETERMINERS.has(this.#words[at - 2] ?? '') ? key : undefined;
  }
}

/** Before a subject stands none of these. */
const PREPOSED = new Set(
  'with from to by for of about in on at against than like as into onto over under between through'.split(' '),
);

function note(parts: Map<string, string>, what: string, holder: string): void {
  const known = parts.get(what);
  parts.set(what, known === undefined || known === holder ? holder : UNCLEAR);
}

/** "have" before a verb's own form. */
function isAuxiliaryAt(words: readonly string[], at: number): boolean {
  return words[at + 1] !== 'to' && /^ha[sv]/u.test(words[at] ?? '');
}

function isParticiple(word: string): boolean {
  return word.endsWith('ed') || word.endsWith('en') || BASE_OF.has(word);
}

function isBare(word: string): boolean {
  return /^[a-z]+$/u.test(word) && !word.endsWith('ing');
}

/** Past forms that are their base forms. */
const UNCHANGED = new Set('hit cut put set hurt shut quit let cost spread beat read'.split(' '));

/** A form that a statement's subject stands before: "reads", "kept", "wrote". */
function isFinite(word: string): boolean {
  return (
    word.endsWith('ed') || BASE_OF.has(word) || UNCHANGED.has(word) || (word.endsWith('s') && !word.endsWith('ss'))
  );
}
