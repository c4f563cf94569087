/**
 * Little words that turn the meaning of otherwise equal texts, and where they don't. Origin of all lists: written for this project from
 * general knowledge of English.
 */
function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/u));
}

/** Words that say how two things stand to each other. */
export const RELATIONS = words(
  `of in on at by for with from as into onto about over under between through during per via because while since until within without across
  before after against among around off down up out back away along to and or but`,
);

/** Relations of which one may stand for the other before most things. */
const EVEN_RELATIONS: readonly string[] = [
  'in on at within',
  'in during',
  'to into onto',
  'to for',
  'to with',
  'to on',
  'in into',
  'on onto',
  'of for in on',
  'of from',
  'of about',
  'about on',
  'for in',
  'for on',
  'with via through',
  'by via through',
  'with on',
  'on via',
  'in via',
  'over through',
  'over across',
  'from in',
  'from since',
  'between among',
  'around about',
  'as for',
];

/** True when one may stand for the other before most things: "fees for transfers", "fees on transfers". Symmetric. */
export function areEvenRelations(one: string, two: string): boolean {
  return EVEN_PAIRS.has(`${one} ${two}`);
}

const EVEN_PAIRS: ReadonlySet<string> = new Set(
  EVEN_RELATIONS.flatMap((row) => {
    const members = row.split(' ');
    return members.flatMap((one) => members.filter((two) => two !== one).map((two) => `${one} ${two}`));
  }),
);

/** Relations that may be left out before most things. */
export const OPTIONAL_RELATIONS = words('of to in on and as');
/** Relations that may be left out at the end: "where were you born at". */
export const OPTIONAL_AT_END = words('at for from in on to with about as');
/** Relations that may be left out before a number: "wait for 5 minutes". */
export const OPTIONAL_BEFORE_NUMBER = words('at for per about around over by');
/** Relations that say how one number, day or hour bounds another. */
export const BEFORE_NUMBERS: ReadonlyMap<string, string> = new Map(
  [
    'since',
    'until',
    'by',
    'before',
    'after',
    'within',
    'in during',
    'at',
    'on',
    'for',
    'from',
    'between',
    'under',
    'over',
  ].flatMap((row) => row.split(' ').map((word): [string, string] => [word, row.split(' ')[0] ?? word])),
);

/** Relations that stand for each other before a day, a month or an hour. */
export const EVEN_BEFORE_NUMBERS = words(
  'in-on on-in in-at at-in on-at at-on from-since since-from in-within within-in from-after after-from for-on on-for in-from from-in from-between between-from for-in in-for around-at at-around for-at at-for',
);

/** Verbs that mean the same with a particle beside them and without. */
export const PARTICLE_VERBS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    up: `build sync fill clean tidy speed free save start warm heat open finish wake sit stand climb eat drink back sign connect link hook
    order set top check fry mix cook lock scan read divide split add`,
    down: 'slow lie sit write note close shut fall climb track copy jot break',
    out: 'find check print fill test try help start sort figure carry copy write look watch search spread cash map work rent point',
    off: 'cut finish start pay shut cool clean sell block wipe',
    over: 'roll switch flip change move transfer port hand carry copy',
    back: 'return send give pay go reset roll restore call refund',
    around: 'turn spin look ask',
    with: 'pair sync link connect share meet speak chat talk synchronise synchronize help assist charge',
    for: 'search wait check look apply cook charge last ask hope change request suggest recommend suggestion recommendation',
    by: 'call go due',
    on: 'call check',
    from: 'get order',
    about: 'know ask tell inform think learn hear explain',
  }).map(([particle, verbs]): [string, ReadonlySet<string>] => [particle, words(verbs)]),
);

/** What something is done by, or with. */
export const MEANS_OF_DOING = words(
  'card cheque check cash phone transfer debit credit wire email mail text sms app voucher paypal hand mouse keyboard bank',
);

/** What is for an illness is against it. */
export const REMEDIES = words(
  'vaccine vaccination shot jab remedy remedies medicine medication drug pill pills cure treatment therapy cream lotion antibiotic insurance',
);

/** Things that other things lie in, or on: there it matters which. */
export const PLACES_OF_THINGS = words(
  `box bag table fridge oven bed shelf roof desk drawer cup plate pan pot bottle boat chair sofa floor water wall door window bowl basket
  bucket cupboard freezer tray carton jar bath pool tree`,
);

/** Things that are near each other and not the same; one in the other's place makes another question. */
const NEAR_TERMS: readonly string[] = [
  'radius diameter circumference',
  'circumference area',
  'perimeter area',
  'area volume',
  'diameter area',
  'length width depth thickness height',
  'latitude longitude altitude',
  'numerator denominator',
  'median average mode',
  'variance deviation',
  'row column',
  'horizontal vertical diagonal',
  'sine cosine tangent',
  'logarithm exponent',
  'permutation combination',
  'square cube',
  'circle sphere cylinder cone',
  'triangle rectangle square pentagon hexagon',
  'marathon triathlon decathlon',
  'animal mammal bird reptile amphibian insect fish',
  'fruit vegetable',
  'breakfast lunch dinner supper brunch',
  'decade century millennium',
  'north south east west',
  'metaphor simile analogy',
  'noun verb adjective adverb pronoun',
  'synonym antonym homonym',
  'prefix suffix',
  'gross net',
  'principal interest',
  'mass density',
  'speed acceleration',
  'voltage resistance',
  'input output',
  'client server',
  'singular plural',
  'solo duet trio quartet',
  'artery vein',
  'virus bacterium bacteria fungus',
  'front behind',
  'affect effect',
  'allowed obliged required',
  'all most some many both either',
  'always sometimes usually often rarely seldom',
  'protein carbohydrate fat fibre fiber',
];

/** True for two members of one row: "radius" and "diameter". Symmetric. */
export function areNearTerms(one: string, two: string): boolean {
  return NEAR_PAIRS.get(singular(one))?.has(singular(two)) === true;
}

const NEAR_PAIRS: ReadonlyMap<string, ReadonlySet<string>> = buildNearPairs();

function buildNearPairs(): ReadonlyMap<string, ReadonlySet<string>> {
  const pairs = new Map<string, Set<string>>();
  for (const row of NEAR_TERMS) {
    const members = row.split(' ');
    for (const one of members) {
      const others = pairs.get(one) ?? new Set<string>();
      for (const two of members) if (two !== one) others.add(two);
      pairs.set(one, others);
    }
  }
  return pairs;
}

function singular(word: string): string {
  return word.endsWith('s') && !NEAR_PAIRS.has(word) ? word.slice(0, -1) : word;
}

/** What is done to a text that is given with the order: any difference in that text is one. */
export const TEXT_ORDERS = words(
  `correct spell spelled spelling translate translation rewrite rephrase reword paraphrase proofread classify summarise summarize transcribe
  edit grammar sentiment spam pronounce pronunciation conjugate hyphenate punctuate transliterate shorten capitalise capitalize rhyme plural
  tokenise tokenize anagram syllables palindrome`,
);
/** Orders whose object is a text even where nothing marks it off. */
export const WORD_ORDERS = words(
  'spell spelled spelling pronounce pronunciation conjugate hyphenate rhyme syllables anagram palindrome',
);
