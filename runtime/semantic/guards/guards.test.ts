import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractFeatures, parseFeatures, serialiseFeatures } from '../features.ts';
import { PLAIN_LEXICON } from '../lexicons/domain-lexicon.ts';
import { GUARD_NAMES, GUARDS, vetoesOf } from './guards.ts';

function vetoes(a: string, b: string): readonly string[] {
  return vetoesOf(GUARD_NAMES, extractFeatures(a), extractFeatures(b), PLAIN_LEXICON);
}

const CONTRARY: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  numbers: [
    ['What is 17 times 23?', 'What is 17 times 24?'],
    ['Pay 1,250 to Ana', 'Pay 12,500 to Ana'],
    ['Take 5 mg at night', 'Take 5 g at night'],
    ['Take 5 mg at night', 'Take 5 mcg at night'],
    ['What does Python 3.1 change?', 'What does Python 3.10 change?'],
    ['Is it -5 outside?', 'Is it 5 outside?'],
    ['Give me two ideas', 'Give me three ideas'],
    ['How tall is it in feet?', 'How tall is it in metres?'],
    ['Send $20', 'Send €20'],
    ['Is a 40 Mb file fine?', 'Is a 40 MB file fine?'],
    ['Is 40 psi too much?', 'Is 40 bar too much?'],
    ['Do you have half a dozen eggs?', 'Do you have a dozen eggs?'],
    ['Who was the sixteenth king?', 'Who was the seventeenth king?'],
  ],
  dates: [
    ['Wake me at 7 am', 'Wake me at 7 pm'],
    ['Wake me at 07:15', 'Wake me at 17:15'],
    ['When does the first tram leave?', 'When does the last tram leave?'],
    ['Book a table for Tuesday', 'Book a table for Thursday'],
    ['Who won the cup in March 2021?', 'Who won the cup in May 2021?'],
    ['Rent per week', 'Rent per month'],
    ['A 6-year-old child', 'A 9-year-old child'],
    ['What is new today?', 'What is new tomorrow?'],
    ['Run it daily at noon', 'Run it daily at midnight'],
    ['Meet at half past two', 'Meet at half past three'],
    ['Wait an hour and a half', 'Wait two hours'],
  ],
  negation: [
    ['Can I swim after eating?', "Can't I swim after eating?"],
    ['Is it safe to swim?', 'Is it not safe to swim?'],
    ['Coffee with milk', 'Coffee without milk'],
    ['Foods that contain iron', "Foods that don't contain iron"],
    ['My car starts but the radio doesnt', "My car doesn't start but the radio does"],
  ],
  antonyms: [
    ['Is parking permitted here?', 'Is parking forbidden here?'],
    ['Is smoking allowed on board?', 'Is smoking prohibited on board?'],
    ['Turn the heating on', 'Turn the heating off'],
    ['Is the shop open?', 'Is the shop closed?'],
    ['How do I lock the screen?', 'How do I unlock the screen?'],
    ['Treatment of hypertension', 'Treatment of hypotension'],
    ['How to enable cookies', 'How to disable cookies'],
    ['Who may enter before noon?', 'Who may enter after noon?'],
    ['Is the plan refundable?', 'Is the plan nonrefundable?'],
    ['Give me arguments for a sugar tax', 'Give me arguments against a sugar tax'],
  ],
  entities: [
    ['Tell me about Slovakia', 'Tell me about Slovenia'],
    ['visa rules for niger', 'visa rules for nigeria'],
    ['How long does hydroxyzine last?', 'How long does hydralazine last?'],
    ['Install numpy on Ubuntu', 'Install numpy on Fedora'],
    ['Call Martin', 'Call Marvin'],
    ['Is a < b here?', 'Is a > b here?'],
    ['Translate to German: I love you', 'Translate to German: I loved you'],
    ['Translate: we are walking home', 'Translate: we are walked home'],
    ['Translate: the cat sleeps', 'Translate: the cats sleep'],
    ['Write city in French', 'Write cities in French'],
    ['so 👍', 'so 👎'],
    ['translate 猫', 'translate 犬'],
    ['What does `git fetch` do?', 'What does `git merge` do?'],
  ],
  code: [
    ['Error E1001 on my boiler', 'Error E1007 on my boiler'],
    ['read config.yaml', 'read config.json'],
    ['Explain C++ templates', 'Explain C# templates'],
    ['Open https://example.com/a', 'Open https://example.com/b'],
    ['What is in user_name?', 'What is in user_id?'],
  ],
  scope: [
    ['Delete all photos', 'Delete my photos'],
    ['Prices for members', 'Prices for non-members'],
    ['Is honey safe for adults?', 'Is honey safe for babies?'],
    ['How much sleep is enough?', 'How much sleep is enough for a toddler?'],
    ['Is it in the basic plan?', 'Is it in the premium plan?'],
    ['Is my deposit safe?', 'Is their deposit safe?'],
    ['A hostel near the station in Graz', 'A hostel near the airport in Graz'],
    ['How do I dye a cotton scarf?', 'How do I dye a silk scarf?'],
  ],
  question: [
    ['Where does saffron grow?', 'How does saffron grow?'],
    ['Who wrote Emma?', 'When did someone write Emma?'],
    ['Where did the ship sink?', 'Why did the ship sink?'],
    ['How much does a clutch cost?', 'Who sells a clutch at cost?'],
    ['How tall is the tower?', 'How old is the tower?'],
    ['How do I keep my knives from rusting?', 'Why do my knives rust?'],
    ['What is a standing order?', 'What do I do to get a standing order?'],
    ['What does a standing order do?', 'How can I set up a standing order?'],
    ['Please block my card', 'Why did you block my card?'],
    ['I want to pay my water bill', 'How much is my water bill?'],
  ],
  tense: [
    ['Has the parcel shipped?', 'Will the parcel ship?'],
    ['Has our team won the cup?', 'Will our team win the cup?'],
    ['Will the price drop soon?', 'Why did the price drop so soon?'],
    ['I will pay the fee, is there a receipt?', 'I paid the fee, is there a receipt?'],
    ['I am about to start lithium', 'I already started lithium'],
    ['Was there an outage in Bristol?', 'Is there an outage in Bristol?'],
  ],
  condition: [
    ['Can I cancel my order?', 'Can I cancel my order if it has shipped?'],
    ['How do I undo a commit?', 'How do I undo a commit if I pushed it?'],
  ],
  language: [['What is the time in Rome?', 'Wie spät ist es in Rom und warum?']],
  ellipsis: [
    ['and for children?', 'and for children'],
    ['what about the other one?', 'What about the other one?'],
    ['does it come in blue?', 'does it come in blue'],
    ['add 20% to that', 'Add 20% to that.'],
    ['Ok open the second one', 'ok open the second one'],
    ['give me three more', 'Give me three more'],
  ],
  symbols: [
    ['Is x <= 5 when x = 5?', 'Is x < 5 when x = 5?'],
    ['Is a == b in JavaScript?', 'Is a = b in JavaScript?'],
    ['Is a != b?', 'Is a = b?'],
    ['What is a - b?', 'What is a b?'],
    ['What is 2 * (3 + 4)?', 'What is 2 * 3 + 4?'],
    ['What is 5!?', 'What is 5?'],
    ['Does echo a && b work?', 'Does echo a & b work?'],
    ['print ~x', 'print x'],
    ['print &x', 'print x'],
    ['Explain !done', 'Explain done'],
    ['Delete the file /etc/hosts', 'Delete the file etc/hosts'],
    ['Go to logs/', 'Go to /logs'],
    ['Run ./build', 'Run build'],
    ['Explain C:\\temp', 'Explain C:temp'],
    ['What does ls -l do?', 'What does ls l do?'],
    ['What is $HOME?', 'What is HOME?'],
    ['What does £ stand for?', 'What does € stand for?'],
    ['Mail @ann', 'Mail ann'],
  ],
  roles: [
    ['Convert pounds to euros', 'Convert euros to pounds'],
    ['Does zinc reduce how well copper works?', 'Does copper reduce how well zinc works?'],
    ['How do I move from the north hall to the south hall?', 'How do I move from the south hall to the north hall?'],
    ['Did Anna teach Boris?', 'Did Boris teach Anna?'],
    ['The shop owes me money', 'I owe the shop money'],
    ['Fährt der Bus von Kiel nach Bremen?', 'Fährt der Bus von Bremen nach Kiel?'],
    ['Darf der Arzt dem Patienten kündigen?', 'Darf der Patienten dem Arzt kündigen?'],
    ['¿El autobús va de Murcia a Lorca?', '¿El autobús va de Lorca a Murcia?'],
    ['El tren va de Toledo a Getafe', 'El tren va de Getafe a Toledo'],
    ['¿Hay un vuelo de Lima a Quito?', '¿Hay un vuelo de Quito a Lima?'],
    ['Le chien du voisin a mordu le facteur', 'Le facteur a mordu le chien du voisin'],
  ],
};

const ALIKE: readonly (readonly [string, string])[] = [
  ['How do I reset my password?', 'how can I reset my password'],
  ['How do I reset my password?', 'Hi Maria, please tell me how to reset my password, thanks!'],
  ['Wait 90 minutes', 'Wait 1.5 hours'],
  ['It cost 1,200 dollars', 'It cost $1200'],
  ['Meet at 3 pm', 'Meet at 15:00'],
  ['two weeks of leave', '14 days of leave'],
  ['Take 0.5 g', 'take 500mg'],
  ['Half an hour of rest', '30 minutes of rest'],
  ['The fever is 38.0 now', 'The fever is 38 now'],
  ['Which colours are there?', 'Which colors are there?'],
  ['What is paracetamol for?', 'What is paracetmol for?'],
  ['Leave me a voice mail', 'Leave me a voicemail'],
  ['A long-term loan', 'A long term loan'],
  ['Compare iron, zinc and copper', 'Compare copper, iron and zinc'],
  ['If it rains, may I work from home?', 'May I work from home if it rains?'],
  ["Why isn't the lamp working?", 'Why is the lamp not working?'],
  ['What are your opening hours?', 'what are your openning hours'],
  ["What's the cheapest month to fly?", 'Whats the cheapest month to fly??'],
  ['How do I renew my passports online?', 'How can I renew my passport online?'],
  ['Really?!', 'really'],
  ['Wait... where is Rome?', 'Wait, where is Rome'],
  ['Tea – or coffee?', 'Tea - or coffee?'],
  ['Salt & pepper', 'salt and pepper'],
  ['Is the tax 5 % of all?', 'Is the tax 5% of all'],
  ['Thanks :) where is my order', 'thanks, where is my order'],
  ['Help me! 😀 please', 'help me please'],
  ['What is "hello" in French?', 'what is hello in French'],
  ['WHERE IS MY ORDER', 'Where is my order?'],
  ['Why do owls hoot?', "What's the reason owls hoot?"],
  ["I don't understand why my card was blocked", 'Why was my card blocked?'],
  ["I'm not sure how to reset the router", 'How do I reset the router?'],
  ['Can I work from another country?', 'Can I work from a different country?'],
  ['Sorry to trouble you again, where is my order?', 'Where is my order?'],
  ['Is there a vaccine against the flu?', 'Is there a vaccine for the flu?'],
  ['Good morning, where is my order?', 'Where is my order?'],
  ['Wo finde ich meine Rechnung?', 'wo finde ich meine rechnung'],
  ['¿Cuándo abre la oficina?', 'cuándo abre la oficina'],
  ['What is a good way to split a bill?', 'How can I split a bill?'],
  ['What do I do to get a locker?', 'How do I get a locker?'],
  ['What is a standing order?', 'Can you explain what a standing order is?'],
];

const PIECES = [
  'a',
  'A',
  '1',
  '.',
  ',',
  ':',
  '-',
  '/',
  "'",
  '’',
  '"',
  '%',
  ' ',
  '$',
  '€',
  '+',
  '#',
  '@',
  '_',
  '!',
  '<',
  '=',
  '(',
  '\n',
  '\ud800',
  '\u0301',
];

describe('guards', () => {
  for (const [guard, pairs] of Object.entries(CONTRARY)) {
    it.each(pairs)(`${guard} vetoes: %s | %s`, (a, b) => {
      expect(vetoes(a, b)).toContain(guard);
    });
  }

  it.each(ALIKE)('no guard vetoes: %s | %s', (a, b) => {
    expect(vetoes(a, b)).toEqual([]);
  });

  it('a guard whose name is not known vetoes', () => {
    const features = extractFeatures('same');
    expect(vetoesOf(['future'], features, features, PLAIN_LEXICON)).toEqual(['future']);
  });

  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...PIECES) }),
    fc
      .array(
        fc.constantFrom('5', 'mg', 'not', 'one', 'and', 'a', 'half', 'on', 'to', 'from', 'Ann', '3pm', 'of', 'May'),
        {
          maxLength: 30,
        },
      )
      .map((words) => words.join(' ')),
  );

  it('are symmetric and total on any strings', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(vetoes(a, b)).toEqual(vetoes(b, a));
      }),
      { numRuns: 1_000 },
    );
  });

  it('never tell a text from itself', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(vetoes(text, text).filter((guard) => guard !== 'ellipsis')).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('read features from a record as they were extracted', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const features = extractFeatures(text);
        expect(parseFeatures(serialiseFeatures(features))).toEqual(features);
      }),
    );
  });

  it('refuse malformed features', () => {
    for (const bad of ['', '{}', '[]', '[[],[],[]]', '[[],[],[1],[],[],[],false,"en"]', '[[],[],[],[],[],[],0,"en"]'])
      expect(parseFeatures(bad)).toBeUndefined();
  });

  it('give one verdict each, whoever comes first and however often they are asked', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, two) => {
        const [a, b] = [extractFeatures(one), extractFeatures(two)];
        for (const [name, guard] of GUARDS) {
          const verdict = guard(a, b, PLAIN_LEXICON);
          expect([name, guard(b, a, PLAIN_LEXICON)]).toEqual([name, verdict]);
          guard(b, extractFeatures('something else'), PLAIN_LEXICON);
          expect([name, guard(a, b, PLAIN_LEXICON)]).toEqual([name, verdict]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it.each(['a', 'A', '1', '.', "'", '-', '\ud800', '\u0301', '猫', '👍', ' ', '`', '=', 'é'])(
    'end on 20 KB of %j, beside a question and beside itself',
    (unit) => {
      const text = unit.repeat(20_000);
      const question = 'Is it not 5 mg from Ann to Bob?';
      expect(vetoes(text, question)).toEqual(vetoes(question, text));
      expect(vetoes(text, text).filter((guard) => guard !== 'ellipsis')).toEqual([]);
    },
  );

  it('end on texts made to make them backtrack', () => {
    for (const unit of [
      '1,',
      '1.',
      'a-',
      "n't ",
      '::',
      '1e',
      'and a half ',
      'two hundred and ',
      '-',
      ' ',
      '!',
      '." ',
      ' <',
      '/a',
      "'",
      'adult ',
      'isis',
      'ed ',
      'what about ',
      'half a dozen ',
      'quarter to ',
      'x_y ',
      '`a ',
    ]) {
      const text = unit.repeat(4_000);
      expect(vetoes(text, text).filter((guard) => guard !== 'ellipsis')).toEqual([]);
    }
  });
});

describe('who acts on whom', () => {
  const vetoed = (a: string, b: string): boolean => vetoes(a, b).length > 0;

  it.each([
    ['Does she owe him money?', 'Does he owe her money?'],
    ['Is he taller than her?', 'Is she taller than him?'],
    ['What did he say to her?', 'What did she say to him?'],
    ['May I call you?', 'May you call me?'],
    ['Which teams did Spain beat?', 'Which teams beat Spain?'],
    ['Which countries does Germany import from?', 'Which countries import from Germany?'],
    ['Who does Alice report to?', 'Who reports to Alice?'],
    ['Who does the CEO answer to?', 'Who answers to the CEO?'],
    ['What does a lion eat?', 'What eats a lion?'],
    ['Who does Bob manage?', 'Who manages Bob?'],
    ['Who owns Instagram?', 'What does Instagram own?'],
    ['Do you ship to Norway?', 'Do you ship from Norway?'],
  ])('is told apart: %s / %s', (a, b) => {
    expect(vetoed(a, b)).toBe(true);
    expect(vetoed(b, a)).toBe(true);
  });

  it.each([
    ['Tell me a joke about cats', 'Tell me another joke about cats'],
    ['Give me a random number', 'Give me one more random number'],
    ['What should I try?', 'What else should I try?'],
    ['Explain photosynthesis', 'Explain photosynthesis again'],
  ])('another one is not the same one: %s / %s', (a, b) => {
    expect(vetoed(a, b)).toBe(true);
    expect(vetoed(b, a)).toBe(true);
  });

  it.each([
    ['How do I reset my password?', 'Please tell me how to reset my password'],
    ['Who wrote Hamlet?', 'Who was it who wrote Hamlet?'],
    ['What does a visa cost?', 'What do visas cost?'],
    ['What is the capital of France?', 'Which city is the capital of France?'],
  ])('the same in other words passes: %s / %s', (a, b) => {
    expect(vetoed(a, b)).toBe(false);
  });
});
