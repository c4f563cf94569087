/**
 * Words that limit for whom, where or in which plan something is asked, one class a line: `class: member | member`, each member's words
 * meaning the same. Two members of one class are two cases. Origin: written for this project from general knowledge of English.
 */
const CLASSES: readonly string[] = [
  'age: adult grownup | child kid children offspring | toddler | baby infant newborn babies | teenager teen adolescent | elderly senior pensioner | minor underage | preschooler',
  'state: pregnant pregnancy expectant | breastfeed breastfeeding nursing lactating | menopause menopausal postmenopausal | diabetic diabetes | asthmatic asthma | immunocompromised immunosuppressed',
  'sex: man male men boy gentleman | woman female women girl lady',
  'family: husband | wife | son | daughter | brother | sister | grandmother grandma | grandfather grandpa | aunt | uncle | nephew | niece',
  'animal: dog puppy canine | cat kitten feline | horse pony | rabbit | hamster | cow cattle | bird parrot',
  'account: current checking | savings saver | joint | business corporate commercial | personal private-account individual | student',
  'card: credit | debit | prepaid',
  'plan: basic starter lite | standard | premium | pro professional | enterprise | gold | silver | platinum | bronze | free-tier freemium | family-plan | unlimited | payg prepay | ultimate',
  'class: economy | business-class | first-class',
  'extent: world worldwide global | national nationwide | local | regional',
  'people: employee staff worker | contractor freelancer self-employed | intern trainee apprentice | manager supervisor | director executive',
  'time-of-work: full-time fulltime | part-time parttime | temporary temp | permanent',
  'member: member subscriber | nonmember non-member guest visitor',
  'citizen: citizen national | resident | tourist | refugee | foreigner foreign',
  'party: landlord | tenant renter | buyer | seller | employer | lender | borrower | patient | lawyer | executor | trust | charity | company-owner',
  'platform: android | iphone ios ipad | windows | mac macos osx | linux | chromebook | ubuntu | debian | fedora',
  'kind-of-place: indoor indoors | outdoor outdoors',
  'system: imperial british-units | us | metric',
  'first: first | last',
  'venue: airport | station | harbour harbor | beach | downtown',
  'material: leather | suede | fabric cloth | wood wooden | metal | plastic | cotton | wool woollen | silk | linen | marble | granite',
];

/** Word → `class:member`, for words that limit a question. */
export const SCOPE_OF: ReadonlyMap<string, string> = new Map(
  CLASSES.flatMap((row) => {
    const [name = '', members = ''] = row.split(': ');
    return members
      .split(' | ')
      .flatMap((member) =>
        member.split(' ').map((word): [string, string] => [word, `${name}:${member.split(' ')[0]}`]),
      );
  }),
);

/** Classes of which a member in one text only limits what is asked: the other text asks about everybody. */
export const LIMITING_CLASSES: ReadonlySet<string> = new Set([
  'age',
  'state',
  'animal',
  'extent',
  'plan',
  'class',
  'party',
  'people',
  'member',
  'citizen',
]);

/** Words that say how many or which of them; never mere grammar. */
export const QUANTIFIERS: ReadonlyMap<string, string> = new Map(
  [
    'all every each any-of everyone everybody everything whole entire',
    'both',
    'only just-one solely merely',
    'none',
    'single one-only',
  ].flatMap((row) => row.split(' ').map((word): [string, string] => [word, row.split(' ')[0] ?? ''])),
);
