import { describe, expect, it } from 'vitest';
import { decidePair, STRICT_SIMILARITY_MIN } from './decide.ts';
import type { PairPolicy, PairSide } from './decide.ts';
import { UNCALIBRATED } from './equivalence.ts';
import { extractFeatures } from './features.ts';
import { GUARD_NAMES } from './guards/guards.ts';
import { PLAIN_LEXICON } from './lexicons/domain-lexicon.ts';

const side = (text: string): PairSide => ({ text, features: extractFeatures(text) });
const policy: PairPolicy = {
  guards: GUARD_NAMES,
  lexicon: PLAIN_LEXICON,
  similarityMin: 0.9,
  probabilityMin: 0.5,
  equivalence: UNCALIBRATED,
};
const asked = side('How do I reset my password?');
const alike = side('How can I reset my password?');
const five = side('Can I take 5 tablets a day?');
const fifty = side('Can I take 50 tablets a day?');

describe('decidePair', () => {
  it('serves what is near, vetoed by nobody and probable', () => {
    expect(decidePair(policy, asked, alike, 0.97)).toMatchObject({ serve: true, reason: 'served', vetoes: [] });
  });

  it('refuses below the threshold without asking guards', () => {
    const verdict = decidePair(policy, five, fifty, 0.5);
    expect(verdict).toMatchObject({ serve: false, reason: 'below-threshold', vetoes: [], probability: 0 });
  });

  it('tells what guards and model say below the threshold when asked for evidence', () => {
    const refused = decidePair(policy, five, fifty, 0.5, { evidence: true });
    expect(refused.vetoes).toContain('numbers');
    const low = decidePair(policy, asked, alike, 0.5, { evidence: true });
    expect(low).toMatchObject({ serve: false, reason: 'below-threshold' });
    expect(low.probability).toBeGreaterThan(0);
  });

  it('is vetoed at any similarity, with probability 0', () => {
    expect(decidePair(policy, five, fifty, 0.99)).toMatchObject({ serve: false, reason: 'vetoed', probability: 0 });
  });

  it('looks no further than the first veto unless asked for evidence', () => {
    const [week, month] = [side('Rent 5 cars per week'), side('Rent 50 cars per month')];
    expect(decidePair(policy, week, month, 0.99).vetoes).toEqual(['numbers']);
    expect(decidePair(policy, week, month, 0.99, { evidence: true }).vetoes).toEqual(['numbers', 'dates']);
  });

  it('refuses what is improbable', () => {
    expect(decidePair({ ...policy, probabilityMin: 0.999 }, asked, alike, 0.95)).toMatchObject({
      serve: false,
      reason: 'improbable',
    });
  });

  it('is blind where two texts have one vector', () => {
    expect(decidePair(policy, side('zu grob'), side('ab klein'), 1)).toMatchObject({ serve: false, blind: true });
  });

  it('holds texts of a language that guards do not know to the strict threshold', () => {
    const german = side('Wie kann ich mein Passwort für das Konto zurücksetzen?');
    const other = side('Wie setze ich das Passwort für mein Konto zurück?');
    const verdict = decidePair(policy, german, other, STRICT_SIMILARITY_MIN - 0.01);
    expect(verdict.unknown.length).toBeGreaterThan(0);
    expect(verdict).toMatchObject({ serve: false, reason: 'below-threshold' });
    expect(decidePair({ ...policy, guards: [] }, german, other, 0.95)).toMatchObject({ serve: true, unknown: [] });
  });

  it('is the same whichever text comes first', () => {
    for (const [a, b] of [
      [asked, alike],
      [five, fifty],
    ] as const) {
      expect(decidePair(policy, a, b, 0.95)).toEqual(decidePair(policy, b, a, 0.95));
    }
  });
});
