import { extractFeatures, parseFeatures, serialiseFeatures } from '../runtime/semantic/features.ts';
import type { Features } from '../runtime/semantic/features.ts';
import { GUARD_NAMES, vetoesOf } from '../runtime/semantic/guards/guards.ts';
import { PLAIN_LEXICON } from '../runtime/semantic/lexicons/domain-lexicon.ts';

/** What the guards take, microseconds. */
export interface GuardsResult {
  readonly texts: number;
  readonly extractP50Us: number;
  readonly extractP99Us: number;
  /** One candidate: its features read from a record and every guard asked. */
  readonly decideP50Us: number;
  readonly decideP99Us: number;
}

const ROUNDS = 40;
const SUBJECTS = [
  'my order',
  'the invoice of 12 May',
  'a 5 mg tablet of loratadine',
  'error E1001',
  'the premium plan',
  'two adults in Lisbon',
];
const QUESTIONS = [
  'How do I cancel X?',
  'Can I change X if it has not been paid yet?',
  'please tell me why X is late, thanks',
  'What is the difference between X and the one before 3 pm?',
  'I paid $1,250.00 for X last week and nothing has arrived. Whom should I call, and how long do I have to wait?',
  'Is X free for children under 6?',
];

/** Measures extraction and decision over questions of several lengths. */
export function measureGuards(): GuardsResult {
  const texts = QUESTIONS.flatMap((question) => SUBJECTS.map((subject) => question.replace('X', subject)));
  const records = texts.map((text) => serialiseFeatures(extractFeatures(text)));
  const extractions: number[] = [];
  const decisions: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, text] of texts.entries()) {
      const startedAtMs = performance.now();
      const asked = extractFeatures(text);
      extractions.push((performance.now() - startedAtMs) * 1_000);
      const record = records[(index + round) % records.length] ?? '';
      decisions.push(decide(asked, record));
    }
  }
  const warm = <T>(values: readonly T[]): readonly T[] => values.slice(values.length / 4);
  return {
    texts: texts.length,
    extractP50Us: quantile(warm(extractions), 0.5),
    extractP99Us: quantile(warm(extractions), 0.99),
    decideP50Us: quantile(warm(decisions), 0.5),
    decideP99Us: quantile(warm(decisions), 0.99),
  };
}

/** Microseconds of one decision. */
function decide(asked: Features, record: string): number {
  const startedAtMs = performance.now();
  const stored = parseFeatures(record);
  if (stored !== undefined) vetoesOf(GUARD_NAMES, asked, stored, PLAIN_LEXICON);
  return (performance.now() - startedAtMs) * 1_000;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

if (process.argv[1]?.endsWith('guards.ts') === true) {
  process.stdout.write(`${JSON.stringify(measureGuards(), undefined, 2)}\n`);
}
