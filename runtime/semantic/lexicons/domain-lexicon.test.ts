import { describe, expect, it } from 'vitest';
import { extractFeatures } from '../features.ts';
import { GUARD_NAMES, vetoesOf } from '../guards/guards.ts';
import { compileLexicon, PLAIN_LEXICON } from './domain-lexicon.ts';

const LEXICON = compileLexicon({
  opposites: [['vest vesting', 'lapse lapsing']],
  same: [['cobot', 'manipulator']],
  names: ['alpha-seven', 'kestrel'],
  scopeWords: ['overnight'],
});

function vetoes(a: string, b: string, lexicon = LEXICON): readonly string[] {
  return vetoesOf(GUARD_NAMES, extractFeatures(a), extractFeatures(b), lexicon);
}

describe('a domain lexicon', () => {
  it('adds opposites', () => {
    expect(vetoes('When do my options vest?', 'When do my options lapse?')).toContain('antonyms');
    expect(vetoes('When do my options vest?', 'When do my options lapse?', PLAIN_LEXICON)).not.toContain('antonyms');
  });

  it('adds words that mean the same', () => {
    const [a, b] = ['How do I park the cobot?', 'How do I park the manipulator?'];
    expect(vetoes(a, b)).toEqual([]);
  });

  it('adds names that are told apart in lower case', () => {
    expect(vetoes('how do I start the kestrel', 'how do I start the engine')).toContain('entities');
    expect(vetoes('how do I start the kestrel', 'how do I start the engine', PLAIN_LEXICON)).not.toContain('entities');
  });

  it('adds words that limit what is asked', () => {
    expect(vetoes('May I park here?', 'May I park here overnight?')).toContain('scope');
    expect(vetoes('May I park here?', 'May I park here overnight?', PLAIN_LEXICON)).not.toContain('scope');
  });

  it('without options is the plain one', () => {
    expect(compileLexicon(undefined)).toEqual(PLAIN_LEXICON);
    expect(compileLexicon({})).toEqual(PLAIN_LEXICON);
  });
});
