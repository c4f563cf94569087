/** A unit: what it measures and how many of the dimension's base unit it is. Units that aren't converted are dimensions of their own. */
export interface Unit {
  readonly dimension: string;
  readonly factor: number;
}

/** dimension | base factor: names. Names with capitals are matched with case, others without. */
const UNIT_TABLE: readonly string[] = [
  'time 1000: s sec secs second seconds',
  'time 1: ms msec millisecond milliseconds',
  'time 0.001: µs μs microsecond microseconds',
  'time 60000: min mins minute minutes',
  'time 3600000: h hr hrs hour hours hourly',
  'time 86400000: day days daily night nights nightly',
  'time 604800000: week weeks weekly wk wks',
  'time 1209600000: fortnight fortnights fortnightly',
  'month 1: month months monthly mth mths',
  'month 3: quarterly',
  'month 12: year years yearly yr yrs annum annual annually',
  'month 120: decade decades',
  'mass 1000: g gram grams gramme grammes',
  'mass 1: mg milligram milligrams',
  'mass 0.001: mcg ug µg μg microgram micrograms',
  'mass 1000000: kg kgs kilo kilos kilogram kilograms',
  'pound-mass 1: lb lbs',
  'ounce 1: oz ounce ounces',
  'stone 1: stone',
  'volume 1: ml millilitre millilitres milliliter milliliters cc',
  'volume 10: cl centilitre centilitres',
  'volume 1000: l litre litres liter liters',
  'gallon 1: gallon gallons',
  'pint 1: pint pints',
  'cup 1: cup cups',
  'teaspoon 1: tsp teaspoon teaspoons',
  'tablespoon 1: tbsp tablespoon tablespoons',
  'length 1: mm millimetre millimetres millimeter millimeters',
  'length 10: cm centimetre centimetres centimeter centimeters',
  'length 1000: m metre metres meter meters',
  'length 1000000: km kilometre kilometres kilometer kilometers',
  'area 10000: hectare hectares',
  'acre 1: acre acres',
  'mile 1: mile miles mi',
  'inch 1: inch inches',
  'foot 1: foot feet ft',
  'yard 1: yard yards yd',
  'percent 1: % percent percentage',
  'money-usd 1: $ usd dollar dollars buck bucks',
  'money-eur 1: € eur euro euros',
  'money-gbp 1: £ gbp sterling quid',
  'money-jpy 1: ¥ jpy yen',
  'money-inr 1: ₹ inr rupee rupees',
  'money-gbp 0.01: pence p',
  'pound 1: pound pounds',
  'money-cent 1: cent cents',
  'celsius 1: C °C celsius centigrade',
  'fahrenheit 1: F °F fahrenheit',
  'kelvin 1: K kelvin kelvins',
  'degree 1: ° degree degrees',
  'speed-metric 1: km/h kmh kph km/hr',
  'speed-imperial 1: mph mi/h',
  'bits 1: bit bits',
  'bits 1000: Kb kilobit kilobits',
  'bits 1000000: Mb megabit megabits',
  'bits 1000000000: Gb gigabit gigabits',
  'bytes 1: byte bytes',
  'data 1000: kb',
  'data 1000000: mb',
  'data 1000000000: gb',
  'bytes 1000: KB kilobyte kilobytes',
  'bytes 1024: kib',
  'bytes 1000000: MB megabyte megabytes',
  'bytes 1048576: mib',
  'bytes 1000000000: GB gigabyte gigabytes',
  'bytes 1073741824: gib',
  'bytes 1000000000000: tb terabyte terabytes',
  'bitrate 1: bps',
  'bitrate 1000: kbps kbit/s',
  'bitrate 1000000: mbps mbit/s',
  'bitrate 1000000000: gbps gbit/s',
  'byterate 1000: kb/s',
  'byterate 1000000: mb/s',
  'byterate 1000000000: gb/s',
  'frequency 1: hz hertz',
  'frequency 1000: khz',
  'frequency 1000000: mhz',
  'frequency 1000000000: ghz',
  'power 1: w watt watts',
  'power 1000: kw kilowatt kilowatts',
  'energy 1: kwh',
  'kcal 1: kcal calorie calories',
  'voltage 1: v volt volts',
  'current 1: ma milliamp milliamps',
  'charge 1: mah',
  'glucose-metric 1: mmol/l',
  'glucose-us 1: mg/dl',
  'hba1c 1: mmol/mol',
  'pressure 1: mmhg',
  'pressure-psi 1: psi',
  'pressure-bar 1: bar',
  'tonne 1: tonne tonnes',
  'ton 1: ton tons',
  'fluid-ounce 1: floz',
  'units-international 1: iu unit units',
  'pixel 1: px pixel pixels',
];

const EXACT = new Map<string, Unit>();
const FOLDED = new Map<string, Unit>();
for (const row of UNIT_TABLE) addRow(row);

function addRow(row: string): void {
  const [head = '', names = ''] = row.split(': ');
  const [dimension = '', factor = '1'] = head.split(' ');
  const unit = { dimension, factor: Number(factor) };
  for (const name of names.split(' ')) {
    if (name === name.toLowerCase()) FOLDED.set(name, unit);
    else EXACT.set(name, unit);
  }
}

/** The unit of that name; a lone letter counts only right after a number. */
export function unitNamed(raw: string, afterNumber: boolean): Unit | undefined {
  const name = /[’']/u.test(raw) ? raw.replace(/[’']s$/u, '').replace(/[’']$/u, '') : raw;
  const exact = EXACT.get(name);
  if (exact !== undefined) return afterNumber || name.length > 2 ? exact : undefined;
  const folded = FOLDED.get(name.toLowerCase());
  if (folded === undefined) return undefined;
  return afterNumber || isWordUnit(name) ? folded : undefined;
}

/** Names that mean a unit without a number before them ("per month", "in feet"); abbreviations and ambiguous words don't. */
function isWordUnit(name: string): boolean {
  const lower = name.toLowerCase();
  if (AMBIGUOUS.has(lower)) return false;
  return lower.length >= 4 || SHORT_WORD_UNITS.has(lower);
}

const AMBIGUOUS = new Set(
  'second min mins stone foot cup cups yard pound pounds degree degrees quid calorie'.split(' '),
);
const SHORT_WORD_UNITS = new Set(
  'day bit bits usd eur gbp kg mg mcg km cm mm ml mph km/h kmh mb gb kb tb mb/s mbps kbps gbps hz lb lbs oz yen jpy inr'.split(
    ' ',
  ),
);
