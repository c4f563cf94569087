import { describe, expect, it } from 'vitest';
import { extractFeatures } from '../features.ts';
import { PLAIN_LEXICON } from '../lexicons/domain-lexicon.ts';
import { rolesSwapped } from './roles.ts';

function swapped(a: string, b: string): boolean {
  const [one, two] = [extractFeatures(a), extractFeatures(b)];
  const verdict = rolesSwapped(one, two, PLAIN_LEXICON);
  expect(rolesSwapped(two, one, PLAIN_LEXICON)).toBe(verdict);
  return verdict;
}

const SWAPPED: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'from and to': [
    ['How do I convert YAML to TOML?', 'How do I convert TOML to YAML?'],
    ['Is there a night bus from Graz to Linz?', 'Is there a night bus to Graz from Linz?'],
    ['Move the notes from my phone to my tablet', 'Move the notes from my tablet to my phone'],
  ],
  'one for the other': [
    ['Can I use honey instead of sugar?', 'Can I use sugar instead of honey?'],
    ['I want to trade the green lamp for the white one', 'I want to trade the white lamp for the green one'],
    ['Replace commas with semicolons', 'Replace semicolons with commas'],
  ],
  'who acts on whom': [
    ['Did the fox chase the hound?', 'Did the hound chase the fox?'],
    ['The garage overcharged me', 'I overcharged the garage'],
    ['Can my coach drop me?', 'Can I drop my coach?'],
    ['Can my nurse see my notes?', "Can I see my nurse's notes?"],
    ['My brother-in-law owes my cousin money', 'My cousin owes my brother-in-law money'],
  ],
  'who does it, who is named beside it': [
    ['Can the gym cancel my membership?', 'Can I cancel my membership at the gym?'],
    ['Why did the restaurant refuse my card?', "Why did I refuse the restaurant's card?"],
    ['My flatmate keeps using my shampoo', "I keep using my flatmate's shampoo"],
    ['A teammate of mine keeps interrupting my talks', 'A teammate of mine says I keep interrupting her talks'],
    ['My sister forwarded me a letter our aunt wrote', 'Our aunt forwarded me a letter my sister wrote'],
    ['I told my manager about a mistake the client made', 'The client told my manager about a mistake I made'],
    ['How do I stop my ex calling me?', 'How do I stop calling my ex?'],
  ],
  'who gives, who gets': [
    ['How do I let a coworker edit my calendar?', "How do I edit a coworker's calendar?"],
    ['How do I give my assistant access to my inbox?', "How do I get access to my assistant's inbox?"],
  ],
  'what comes first': [
    ['Should I prime before I sand?', 'Should I sand before I prime?'],
    ['If the pump stops, does the fan run?', 'If the fan stops, does the pump run?'],
  ],
  comparison: [
    ['Is copper softer than silver?', 'Is silver softer than copper?'],
    ['Which rivers are longer than the Rhine?', 'Which rivers is the Rhine longer than?'],
    ['Is it cheaper to rent than to take a mortgage?', 'Is it cheaper to take a mortgage than to rent?'],
    ['Can a hare outrun a horse more often than a dog?', 'Can a dog outrun a horse more often than a hare?'],
  ],
  arithmetic: [
    ['Subtract 8 from 31', 'Subtract 31 from 8'],
    ['Divide 9 by 36', 'Divide 36 by 9'],
    ['What is the ratio of cats to dogs?', 'What is the ratio of dogs to cats?'],
  ],
  "nothing but two things in each other's places": [
    ['How many euros is a dollar worth?', 'How many dollars is a euro worth?'],
    ['How many cups are in a gallon?', 'How many gallons are in a cup?'],
    [
      'Does Germany export more to China or import more from China?',
      'Does China export more to Germany or import more from Germany?',
    ],
  ],
  'two passives': [['Was the mayor accused by the editor?', 'Was the editor accused by the mayor?']],
  'what goes with what': [
    ['I leave by boat and return by train', 'I leave by train and return by boat'],
    ['a red hat and a blue scarf', 'a blue hat and a red scarf'],
  ],
  'what is asked for': [
    ['Who was Abel killed by?', 'Who did Abel kill?'],
    ['Which clubs did Anna join?', 'Which clubs joined Anna?'],
    ['Which of my friends have blocked me?', 'Which of my friends have I blocked?'],
    ['Who is following me on my own site?', 'Whom am I following on my own site?'],
    ['How can I see who unfollowed me?', 'How can I see whom I unfollowed?'],
  ],
  'two words of one meaning': [
    ['Was she sent from the clinic to the hospital?', 'Was she sent from the hospital to the clinic?'],
  ],
};

const MOVED: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'a phrase': [
    ['In the oven, how long does a trout take?', 'How long does a trout take in the oven?'],
    ['From Graz to Linz, is there a night bus?', 'Is there a night bus to Linz from Graz?'],
    ['On Fridays is the pool in the park open?', 'Is the pool in the park open on Fridays?'],
  ],
  'a clause': [
    ['If the pump stops, does the fan run?', 'Does the fan run if the pump stops?'],
    ['The lamp is red and the door is stuck', 'The door is stuck and the lamp is red'],
  ],
  'a list': [
    ['Compare oak, ash and beech', 'Compare beech, oak and ash'],
    ['Which is older, Rome or Athens?', 'Which is older, Athens or Rome?'],
    ['What is 4 times 11?', 'What is 11 times 4?'],
  ],
  'terms that are alike': [
    ['How far is Graz from Linz?', 'How far is Linz from Graz?'],
    ['Does zinc react with sulphur?', 'Does sulphur react with zinc?'],
    ['Compare a loan with a lease', 'Compare a lease with a loan'],
  ],
  'active and passive': [
    ['Did the editor accuse the mayor?', 'Was the mayor accused by the editor?'],
    ['The parcel was lost by the courier', 'The courier lost the parcel'],
    ['Which rates are set by the council?', 'Which rates does the council set?'],
    ['Can the gym cancel my membership?', 'Can my membership be cancelled by the gym?'],
    ['The doctor told me to rest', 'I was told to rest by the doctor'],
    ['Can my doctor prescribe this over the phone?', 'Can I have this prescribed by my doctor over the phone?'],
  ],
  'one question in two forms': [
    ['What plan do I have?', "I'd like to know what plan I have"],
    ['What amount do I have to pay?', 'What amount of money do I pay?'],
    ['How many ounces are in a pound?', 'What is a pound in ounces?'],
    ['How do I get a refund from the shop?', 'How can the shop refund me?'],
    ['When my parents come, can they use my login?', 'Can my parents use my login when they come?'],
    ['Can I cancel my hotel booking?', 'Can I cancel my booking at the hotel?'],
    ['My brother and I want to open an account', 'I want to open an account with my brother'],
  ],
  keywords: [['cheap hotel pool oslo', 'oslo hotel cheap pool']],
  'a thing that acts by itself': [['Why is my phone not charging?', 'Why can I not charge my phone?']],
};

describe('roles', () => {
  for (const [kind, pairs] of Object.entries(SWAPPED)) {
    it.each(pairs)(`changed, ${kind}: %s | %s`, (a, b) => {
      expect(swapped(a, b)).toBe(true);
    });
  }

  for (const [kind, pairs] of Object.entries(MOVED)) {
    it.each(pairs)(`kept, another place for ${kind}: %s | %s`, (a, b) => {
      expect(swapped(a, b)).toBe(false);
    });
  }
});
