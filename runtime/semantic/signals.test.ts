import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PairSide } from './decide.ts';
import { extractFeatures } from './features.ts';
import { PLAIN_LEXICON } from './lexicons/domain-lexicon.ts';
import { EVEN_RARITY, RarityTable } from './rarity.ts';
import { SIGNALS, signalsOf } from './signals.ts';

const side = (text: string): PairSide => ({ text, features: extractFeatures(text) });
const context = { rarity: EVEN_RARITY, lexicon: PLAIN_LEXICON };
const signal = (name: string, a: string, b: string, rarity = EVEN_RARITY): number =>
  signalsOf(side(a), side(b), 0.9, { rarity, lexicon: PLAIN_LEXICON })[SIGNALS.findIndex((one) => one.name === name)] ??
  Number.NaN;

describe('signalsOf', () => {
  it('is symmetric, finite and as long as SIGNALS for any two texts', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.lorem());
    fc.assert(
      fc.property(text, text, (a, b) => {
        const there = signalsOf(side(a), side(b), 0.5, context);
        expect(there).toHaveLength(SIGNALS.length);
        expect(there.every(Number.isFinite)).toBe(true);
        expect(signalsOf(side(b), side(a), 0.5, context)).toEqual(there);
      }),
      { numRuns: 50 },
    );
  });

  it('finds nothing unmatched between a text and itself', () => {
    const text = 'How do I change the delivery address of order 12?';
    expect(signal('unmatched-share-richer', text, text)).toBe(0);
    expect(signal('pieces-apart', text, text)).toBe(0);
    expect(signal('numbers-apart', text, text)).toBe(0);
  });

  it('weighs a rare word that one text lacks more than a common one', () => {
    const rarity = new RarityTable({ texts: 8, levels: ['red', '', '', '', '', 'zirconium'] });
    const common = signal('unmatched-bits-richer', 'Is the ring nice?', 'Is the red ring nice?', rarity);
    const rare = signal('unmatched-bits-richer', 'Is the ring nice?', 'Is the zirconium ring nice?', rarity);
    expect(rare).toBeGreaterThan(common);
  });

  it('tells a richer text from a poorer one', () => {
    const [a, b] = ['Are your toys safe?', 'Are your wooden toys safe for a hamster?'];
    expect(signal('unmatched-words-poorer', a, b)).toBe(0);
    expect(signal('unmatched-words-richer', a, b)).toBeGreaterThan(1);
  });

  it('weighs words that are foreign to the texts of its rarity table', () => {
    const rarity = new RarityTable({ texts: 4_000, levels: ['open account', ...Array.from({ length: 11 }, () => '')] });
    expect(signal('unfamiliar', 'open an account', 'open the account', rarity)).toBe(0);
    expect(signal('unfamiliar', 'open an account', 'open a quorble account', rarity)).toBeGreaterThan(0);
  });
});
