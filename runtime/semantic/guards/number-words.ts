/** Spelled-out numbers. */
export const SPELLED: ReadonlyMap<string, number> = new Map(
  Object.entries({
    zero: 0,
    one: 1,
    two: 2,
    three: 3,
    four: 4,
    five: 5,
    six: 6,
    seven: 7,
    eight: 8,
    nine: 9,
    ten: 10,
    eleven: 11,
    twelve: 12,
    thirteen: 13,
    fourteen: 14,
    fifteen: 15,
    sixteen: 16,
    seventeen: 17,
    eighteen: 18,
    nineteen: 19,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fourty: 40,
    fifty: 50,
    sixty: 60,
    seventy: 70,
    eighty: 80,
    ninety: 90,
    half: 0.5,
    quarter: 0.25,
    dozen: 12,
    couple: 2,
    twice: 2,
    once: 1,
    thrice: 3,
    double: 2,
    triple: 3,
    hundred: 100,
    thousand: 1_000,
    million: 1_000_000,
    billion: 1_000_000_000,
  }),
);

/** What multiplies the number before it. */
export const MULTIPLIERS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    hundred: 100,
    thousand: 1_000,
    k: 1_000,
    million: 1_000_000,
    m: 1_000_000,
    mn: 1_000_000,
    billion: 1_000_000_000,
    bn: 1_000_000_000,
    trillion: 1_000_000_000_000,
    dozen: 12,
  }),
);

/** Ordinals; `second` is a unit of time only after a number. */
export const ORDINAL_WORDS: ReadonlyMap<string, number> = new Map(
  `first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth
  eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth
  twenty-ninth thirtieth thirty-first`
    .split(/\s+/u)
    .map((word, index): [string, number] => [word, index + 1]),
);

const CALENDAR: readonly string[] = [
  'monday mon mondays',
  'tuesday tue tues tuesdays',
  'wednesday wed wednesdays',
  'thursday thu thur thurs thursdays',
  'friday fri fridays',
  'saturday saturdays',
  'sunday sundays',
  'january jan',
  'february feb',
  'march',
  'april apr',
  'may',
  'june jun',
  'july jul',
  'august aug',
  'september sept sep',
  'october oct',
  'november nov',
  'december dec',
  'today',
  'tomorrow',
  'yesterday',
  'tonight',
  'morning mornings',
  'afternoon afternoons',
  'evening evenings',
  'weekend weekends',
  'weekday weekdays',
  'spring',
  'summer',
  'autumn',
  'winter',
  'christmas xmas',
  'eve',
  'easter',
  'halloween',
  'thanksgiving',
  'last previous',
  'next upcoming',
  'ago',
  'bc',
  'ad',
  'lunchtime',
  'dinnertime',
];

/** Calendar and clock words → canonical form. */
export const CALENDAR_WORDS: ReadonlyMap<string, string> = new Map(
  CALENDAR.flatMap((group) => {
    const names = group.split(' ');
    return names.map((name): [string, string] => [name, `calendar:${names[0] ?? name}`]);
  }),
);

/** Calendar words that are more often something else. */
export const CALENDAR_AMBIGUOUS: ReadonlySet<string> = new Set(['may', 'march', 'spring', 'ad', 'mon', 'sun', 'sep']);
