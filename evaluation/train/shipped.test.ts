import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCalibration } from '../../runtime/semantic/calibration.ts';
import { decidePair } from '../../runtime/semantic/decide.ts';
import type { PairSide } from '../../runtime/semantic/decide.ts';
import { MonotoneEquivalence } from '../../runtime/semantic/equivalence.ts';
import { extractFeatures, FEATURE_VERSION } from '../../runtime/semantic/features.ts';
import { GUARD_NAMES } from '../../runtime/semantic/guards/guards.ts';
import { PLAIN_LEXICON } from '../../runtime/semantic/lexicons/domain-lexicon.ts';

const folder = new URL('../../calibration/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const side = (text: string): PairSide => ({ text, features: extractFeatures(text) });

describe('shipped calibrations', () => {
  it('are there', () => {
    expect(files.length).toBeGreaterThan(0);
  });

  it.each(files)('%s is about its embedder and the features in use, and says how it was made', (name) => {
    const calibration = parseCalibration(JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
    expect(name).toBe(`${calibration.embedderId}.json`);
    expect(calibration.featureVersion).toBe(FEATURE_VERSION);
    expect(calibration.origin.command).toMatch(/^reprise train /u);
  });

  it.each(files)('%s finds a rephrasing more probable than another question of the same similarity', (name) => {
    const { equivalence } = parseCalibration(JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
    const policy = {
      guards: GUARD_NAMES,
      lexicon: PLAIN_LEXICON,
      similarityMin: 0,
      probabilityMin: 0,
      equivalence: new MonotoneEquivalence(equivalence),
    };
    const probability = (a: string, b: string): number => decidePair(policy, side(a), side(b), 0.9).probability;
    const same = probability('How do I reset my password?', 'how can i reset my password please');
    const other = probability('How do I reset my password?', 'Which rules must a new office badge photo obey?');
    expect(same).toBeGreaterThan(other);
  });
});
