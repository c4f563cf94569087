import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { extractFeatures } from '../features.ts';
import { PLAIN_LEXICON } from '../lexicons/domain-lexicon.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { GUARD_NAMES, vetoesOf } from './guards.ts';

const FDA = join(process.env['REPRISE_TEST_DATA'] ?? '../shared/data', 'text', 'fda-lookalike-drugs.tsv');

/** Names that are taken for each other in practice; none of these pairs is in the public list above. */
const OWN_PAIRS = `
  clonidine clonazepam | lamotrigine lamivudine | metformin metronidazole | azathioprine azithromycin | carboplatin cisplatin |
  clonazepam lorazepam | cefuroxime cefotaxime | cefazolin ceftriaxone | ephedrine epinephrine | fluoxetine duloxetine |
  fluoxetine paroxetine | guaifenesin guanfacine | hydrocodone oxycodone | infliximab rituximab | ketorolac ketamine |
  levetiracetam levofloxacin | methadone methylphenidate | metoprolol metformin | mifepristone misoprostol | morphine hydromorphone |
  nimodipine nifedipine | oxcarbazepine carbamazepine | penicillamine penicillin | phentermine phentolamine | quinine quinidine |
  rifampicin rifaximin | sumatriptan zolmitriptan | sitagliptin saxagliptin | tramadol trazodone | valaciclovir valganciclovir |
  pazopanib ponatinib | chlorothiazide chlorthalidone | desipramine imipramine | terbinafine terbutaline | sertraline cetirizine |
  nortriptyline amitriptyline | losartan valsartan | amlodipine amiloride | alprazolam lorazepam | tizanidine tiagabine |
  prednisone primidone | allopurinol haloperidol | lisinopril enalapril | omeprazole esomeprazole | amiodarone amantadine |
  fentanyl sufentanil | propranolol pravastatin | captopril carvedilol
`
  .trim()
  .split('|')
  .map((pair) => pair.trim().split(/\s+/u));

const FRAMES = [
  'What is the dose of X?',
  'what is the maximum dose of X for an adult',
  'Can I drink alcohol while taking X?',
  'is X safe in pregnancy',
  'Side effects of X',
  'X and grapefruit juice',
  'How long does X take to work?',
  'Can I take X with food?',
  'I missed a tablet of X, what should I do?',
  'Does X cause weight gain?',
  'Should X be kept in the fridge?',
  'My doctor gave me X. Can I drive?',
  'How do I stop taking X?',
  'Is X the same as a generic?',
  'can children have X',
  'Does X interact with warfarin?',
  'What is X used for?',
  'Can I crush X tablets?',
  'X 10 mg twice a day: is that a lot?',
  'Please tell me whether X makes people sleepy.',
];

/** The lexicon of medicines taken away. */
const BARE: DomainLexicon = { ...PLAIN_LEXICON, drugs: new Map() };

function isVetoed(one: string, other: string, lexicon: DomainLexicon): boolean {
  return vetoesOf(GUARD_NAMES, extractFeatures(one), extractFeatures(other), lexicon).length > 0;
}

function framed(frame: string, name: string, capital: boolean): string {
  return frame.replace('X', capital ? `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}` : name);
}

/** Frames of each pair, both ways, in lower case and with capitals, that no guard vetoes; and how many there are in all. */
function served(
  pairs: readonly (readonly string[])[],
  lexicon: DomainLexicon,
): { all: number; passed: readonly string[] } {
  let all = 0;
  const passed: string[] = [];
  for (const [one = '', other = ''] of pairs) {
    for (const frame of FRAMES) {
      for (const capital of [false, true]) {
        const a = framed(frame, one, capital);
        const b = framed(frame, other, capital);
        all += 2;
        if (!isVetoed(a, b, lexicon)) passed.push(`${a} | ${b}`);
        if (!isVetoed(b, a, lexicon)) passed.push(`${b} | ${a}`);
      }
    }
  }
  return { all, passed };
}

const KEYS: Readonly<Record<string, string>> = {
  a: 's',
  e: 'r',
  i: 'o',
  o: 'p',
  n: 'm',
  r: 't',
  t: 'y',
  l: 'k',
  d: 'f',
  c: 'v',
  m: 'n',
  p: 'o',
};

/** One slip of each kind inside a name: a letter left out, doubled, swapped with the next, taken from the next key. */
function slips(name: string): readonly string[] {
  const made: string[] = [];
  for (const at of [2, Math.floor(name.length / 2), name.length - 2]) {
    const letter = name[at] ?? '';
    const next = name[at + 1] ?? '';
    made.push(name.slice(0, at) + name.slice(at + 1));
    made.push(name.slice(0, at) + letter + name.slice(at));
    if (letter !== next) made.push(name.slice(0, at) + next + letter + name.slice(at + 2));
    const key = KEYS[letter];
    if (key !== undefined) made.push(name.slice(0, at) + key + name.slice(at + 1));
  }
  return made.filter((slip) => slip !== name);
}

/** Share of misspelled names that no guard tells from the name itself. */
function recognised(names: readonly string[], lexicon: DomainLexicon): number {
  let all = 0;
  let passed = 0;
  for (const name of names) {
    for (const slip of slips(name)) {
      for (const frame of FRAMES.slice(0, 5)) {
        all += 1;
        if (!isVetoed(framed(frame, name, false), framed(frame, slip, false), lexicon)) passed += 1;
      }
    }
  }
  return passed / all;
}

describe('look-alike medicines', () => {
  it('are at least 40 pairs of our own', () => {
    expect(OWN_PAIRS.length).toBeGreaterThanOrEqual(40);
    expect(OWN_PAIRS.every((pair) => pair.length === 2)).toBe(true);
  });

  it('are never served for each other', () => {
    expect(served(OWN_PAIRS, PLAIN_LEXICON).passed).toEqual([]);
  });

  it('are told apart in at least 95 % without a lexicon of medicines', () => {
    const { all, passed } = served(OWN_PAIRS, BARE);
    expect(passed.length / all).toBeLessThanOrEqual(0.05);
  });

  it('are still known with one typing error', () => {
    const names = [...new Set(OWN_PAIRS.flat())];
    expect(recognised(names, PLAIN_LEXICON)).toBeGreaterThanOrEqual(0.8);
    expect(recognised(names, BARE)).toBeGreaterThanOrEqual(0.6);
  });

  it('go by one name under their brand names', () => {
    expect(isVetoed('What is Tylenol for?', 'What is paracetamol for?', PLAIN_LEXICON)).toBe(false);
    expect(isVetoed('What is Celebrex for?', 'What is Celexa for?', PLAIN_LEXICON)).toBe(true);
  });
});

describe.runIf(hasData())('look-alike medicines of the public list', () => {
  it('are never served for each other', () => {
    expect(served(publicPairs(), PLAIN_LEXICON).passed).toEqual([]);
  });

  it('are told apart in at least 95 % without a lexicon of medicines', () => {
    const { all, passed } = served(publicPairs(), BARE);
    expect(passed.length / all).toBeLessThanOrEqual(0.05);
  });

  it('are still known with one typing error', () => {
    expect(recognised([...new Set(publicPairs().flat())], PLAIN_LEXICON)).toBeGreaterThanOrEqual(0.6);
  });
});

function hasData(): boolean {
  const there = existsSync(FDA);
  if (!there) console.log(`left out: look-alike medicines of the public list (no ${FDA})`);
  return there;
}

function publicPairs(): readonly (readonly string[])[] {
  const rows = readFileSync(FDA, 'utf8').split('\n');
  const groups = rows.filter((row) => row !== '' && !row.startsWith('#')).map((row) => row.split('\t'));
  return groups.flatMap((names) => names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other])));
}
