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
  'what comes first': [
    ['Should I prime before I sand?', 'Should I sand before I prime?'],
    ['If the pump stops, does the fan run?', 'If the fan stops, does the pump run?'],
  ],
  comparison: [
    ['Is copper softer than silver?', 'Is silver softer than copper?'],
    ['Can a hare outrun a horse more often than a dog?', 'Can a dog outrun a horse more often than a hare?'],
  ],
  arithmetic: [
    ['Subtract 8 from 31', 'Subtract 31 from 8'],
    ['Divide 9 by 36', 'Divide 36 by 9'],
    ['What is the ratio of cats to dogs?', 'What is the ratio of dogs to cats?'],
  ],
  'two passives': [['Was the mayor accused by the editor?', 'Was the editor accused by the mayor?']],
  'what goes with what': [
    ['I leave by boat and return by train', 'I leave by train and return by boat'],
    ['a red hat and a blue scarf', 'a blue hat and a red scarf'],
  ],
  'what is asked for': [
    ['Who was Abel killed by?', 'Who did Abel kill?'],
    ['Which clubs did Anna join?', 'Which clubs joined Anna?'],
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
