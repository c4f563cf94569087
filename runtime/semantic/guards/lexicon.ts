function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/u));
}

/** Words that carry grammar, not subject. */
export const FUNCTION_WORDS = words(
  `a an the this that these those is are was were be been being am do does did doing done have has had having will would
  shall should can could may might must i me my mine myself you your yours yourself we us our ours they them their theirs
  he him his she her hers it its of to in on at by for with from as into onto about and or but so if then than there here
  what which how when where who why whom whose also too very just there's let up out over under between through during
  per via because while since until whether any some such own same other another one ones got get gets getting go goes
  going make makes making made possible way ways im ive id ill youre its thats whats wheres hows whos theres cause
  need needs needed want wants wanted able anyone someone somebody anybody thing things something anything now still
  currently exactly`,
);

/** Courtesy, hedging and urgency: they change a text's tone, not its answer. */
export const COURTESY_WORDS = words(
  `please pls plz thanks thank thx ty cheers kindly kind regards best hi hello hey hiya dear sir madam team folks guys
  everyone sorry excuse pardon bother trouble urgently urgent asap quick quickly really actually basically simply maybe
  perhaps wondering wonder curious know tell explain say ask asking question like love hope help ok okay hm hmm um uh well
  oh ah yes yeah yep lot lots lovely much many advance appreciate appreciated grateful hurry answer again greetings
  sincerely ahead give show describe wanna gonna gotta`,
);

/** Words that say how many or which of them; never mere grammar. */
export const SCOPE_WORDS = words('all every each both only none most half entire whole everything everyone everybody');

/** Question words that ask for different things; `what` and `which` paraphrase too freely to be told from them. */
export const STRONG_QUESTION_WORDS = words('who when where why how');

/** Groups of words that may stand for each other. The first is the group's name. */
const ALIASES: readonly string[] = [
  'buy purchase',
  'begin start commence',
  'end finish',
  'large big',
  'repair fix mend',
  'delete remove erase',
  'change modify alter edit',
  'find locate',
  'obtain receive',
  'send transmit',
  'phone telephone mobile cellphone cell',
  'television tv telly',
  'application app',
  'photo picture photograph pic',
  'information info',
  'configuration config',
  'database db',
  'javascript js',
  'typescript ts',
  'kubernetes k8s',
  'postgresql postgres',
  'repository repo',
  'environment env',
  'documentation docs doc',
  'directory folder',
  'mount mt',
  'saint st',
  'doctor dr gp physician',
  'usa us america',
  'uk britain',
  'dollar usd',
  'euro eur',
  'sterling gbp quid',
  'vacation holiday',
  'flat apartment',
  'pharmacy chemist',
  'medicine medication drug med meds',
  'film movie',
  'lift elevator',
  'email mail',
  'setup set',
  'login log signin',
  'versus vs',
  'approximately approx roughly',
  'maximum max',
  'minimum min',
  'reason cause',
  'allow permit let',
  'method approach',
  'difference differ different',
  'function fn func',
  'argument arg',
  'parameter param',
  'variable var',
  'mum mom mother',
  'dad father',
  'kid child children',
  'cost price',
];

/** Word → its group's name. */
export const ALIAS_OF: ReadonlyMap<string, string> = new Map(
  ALIASES.flatMap((group) => {
    const members = group.split(' ');
    return members.map((member): [string, string] => [member, members[0] ?? member]);
  }),
);

/** Opposites: a text that has more of one side where the other text has more of the other side asks the contrary. */
const OPPOSITES: readonly string[] = [
  'on | off',
  'to | from',
  'in into inside indoor | out outside outdoor',
  'up upper upward | down lower downward',
  'above over | below under beneath',
  'before prior ago | after later since',
  'more | less fewer',
  'most | least fewest',
  'many | few',
  'first earliest initial | last latest final',
  'minimum min minimal smallest | maximum max maximal largest biggest',
  'high higher highest | low lower lowest',
  'increase increased increasing raise raised rise rising grow growing gain scaleup boost | decrease decreased decreasing reduce reduced reducing lower lowered drop fall falling shrink cut lose',
  'start begin commence launch | stop end finish quit cease halt terminate',
  'open opened opening | close closed closing shut shutting',
  'enable enabled activate activated allow permit | disable disabled deactivate deactivated block deny forbid prohibit ban prevent',
  'better best improve improving good | worse worst worsen worsening bad',
  'buy bought buying purchase | sell sold selling',
  'incoming inbound inward | outgoing outbound outward',
  'fast faster fastest quick quickest quicker | slow slower slowest',
  'cheap cheaper cheapest inexpensive | expensive dear dearest costliest pricey priciest',
  'long longer longest tall taller tallest | short shorter shortest',
  'ascending | descending',
  'left | right',
  'hot hotter hottest warm | cold colder coldest cool',
  'old older oldest | new newer newest young younger youngest',
  'early earlier earliest | late later latest',
  'include included including inclusive | exclude excluded excluding exclusive except',
  'add added adding insert | remove removed removing delete deleted subtract',
  'import imported importing | export exported exporting',
  'upload uploading uploaded | download downloading downloaded',
  'accept accepted accepting approve approved | reject rejected decline declined refuse refused',
  'send sent sending | receive received receiving',
  'push pushed pushing | pull pulled pulling',
  'win won winning winner | lose lost losing loser',
  'positive | negative',
  'true | false',
  'male man men boy | female woman women girl',
  'north northern | south southern',
  'east eastern | west western',
  'arrive arrives arriving arrival | depart departs departing departure leave leaves leaving',
  'deposit deposited paid-in | withdraw withdrawal withdrawing withdrew',
  'credit credited | debit debited',
  'public | private',
  'input | output',
  'show shows visible | hide hides hidden invisible',
  'lend lends lending lent | borrow borrows borrowing borrowed',
  'connect connected join joined | disconnect disconnected leave left',
  'full fuller | empty',
  'always | never',
  'with | without',
  'safe safely | dangerous unsafe',
  'strong stronger strongest | weak weaker weakest',
  'light lighter lightest | heavy heavier heaviest dark darker',
  'wide wider widest broad | narrow narrower narrowest',
  'same equal | different',
  'present | absent',
  'pass passed passing | fail failed failing',
  'day daytime | night nighttime',
  'acquire hire hired hiring | fire fired firing dismiss',
  'full-time fulltime | part-time parttime',
  'parent mother father | child son daughter',
  'domestic | international',
  'single one-way | return round-trip',
  'sync synchronous | async asynchronous',
  'horizontal horizontally | vertical vertically',
  'thick thicker | thin thinner',
  'easy easier easiest | hard harder hardest difficult',
  'gain gained gaining | lose lost losing',
  'profit | loss',
  'import-duty imports | exports',
  'increment | decrement',
  'encode encoding | decode decoding',
  'serialise serialize | deserialise deserialize',
  'asset assets | liability liabilities',
  'front | back rear',
  'top | bottom',
  'sunrise dawn | sunset dusk',
  'summer | winter',
  'plus add | minus subtract',
  'multiply multiplied times | divide divided',
];

/** Word → its sides: `n` for the left, `-n` for the right side of pair n (counted from 1). */
export const SIDES_OF: ReadonlyMap<string, readonly number[]> = buildSides();

function buildSides(): ReadonlyMap<string, readonly number[]> {
  const sides = new Map<string, number[]>();
  for (const [index, pair] of OPPOSITES.entries()) {
    for (const [side, list] of pair.split(' | ').entries()) {
      for (const word of list.split(' ')) {
        const own = sides.get(word) ?? [];
        own.push(side === 0 ? index + 1 : -index - 1);
        sides.set(word, own);
      }
    }
  }
  return sides;
}

/** Prefixes that turn a word into its contrary. */
export const NEGATIVE_PREFIXES: readonly string[] = [
  'un',
  'dis',
  'de',
  'in',
  'im',
  'ir',
  'il',
  'non',
  'non-',
  'mis',
  'a',
  'anti',
  'anti-',
];

/** Prefixes that are each other's contrary. */
export const OPPOSITE_PREFIXES: readonly (readonly [string, string])[] = [
  ['hyper', 'hypo'],
  ['in', 'ex'],
  ['up', 'down'],
  ['in', 'out'],
  ['over', 'under'],
  ['pre', 'post'],
  ['en', 'de'],
  ['macro', 'micro'],
  ['intra', 'inter'],
  ['endo', 'exo'],
  ['ante', 'post'],
  ['pro', 'anti'],
  ['max', 'min'],
  ['as', 'des'],
];
