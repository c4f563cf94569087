import { describe, expect, it } from 'vitest';
import { extractFeatures } from '../features.ts';
import { PLAIN_LEXICON } from '../lexicons/domain-lexicon.ts';
import { GUARD_NAMES, vetoesOf } from './guards.ts';

function vetoes(a: string, b: string): readonly string[] {
  return vetoesOf(GUARD_NAMES, extractFeatures(a), extractFeatures(b), PLAIN_LEXICON);
}

/** Wrong hits that users of other caches have reported, by kind; the examples are our own. */
const KINDS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'a question and its reversal': [
    ['Does coffee make people anxious?', 'Do anxious people make coffee?'],
    ['Should I call the plumber before the landlord?', 'Should I call the landlord before the plumber?'],
    ['Is tea stronger than coffee?', 'Is coffee stronger than tea?'],
    ['How do I copy files from the server to the laptop?', 'How do I copy files from the laptop to the server?'],
  ],
  'on and off, open and closed': [
    ['Turn the porch light on', 'Turn the porch light off'],
    ['Is the gate open?', 'Is the gate closed?'],
    ['How do I enable alerts?', 'How do I disable alerts?'],
    ['Which valves are open at night?', 'Which valves are shut at night?'],
    ['How do I log in to the portal?', 'How do I log out of the portal?'],
  ],
  'a denial': [
    ['Which mushrooms are edible?', 'Which mushrooms are not edible?'],
    ['Can I enter with a ticket?', 'Can I enter without a ticket?'],
    ['Why does the pump start?', "Why doesn't the pump start?"],
  ],
  'arithmetic that differs by one number': [
    ['What is 34 plus 8?', 'What is 34 plus 9?'],
    ['What is 7 * 12?', 'What is 7 * 13?'],
    ['Divide 144 by 12', 'Divide 144 by 16'],
    ['What is two plus two?', 'What is two plus three?'],
    ['Solve x + 5 = 9', 'Solve x - 5 = 9'],
  ],
  'a follow-up after another history': [
    ['and for children?', 'and for children?'],
    ['what about the blue one?', 'What about the blue one'],
    ['does it also work on Sundays?', 'does it also work on sundays?'],
    ['and in Spain?', 'And in Spain?'],
    ['can you do that again', 'Can you do that again?'],
  ],
};

describe('reported wrong hits', () => {
  for (const [kind, pairs] of Object.entries(KINDS)) {
    it.each(pairs)(`${kind}: %s | %s`, (a, b) => {
      expect(vetoes(a, b)).not.toEqual([]);
      expect(vetoes(b, a)).toEqual(vetoes(a, b));
    });
  }
});
