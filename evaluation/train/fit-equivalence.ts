import type { EquivalenceParameters, RarityParameters } from '../../runtime/ports/calibration.ts';
import { decidePair } from '../../runtime/semantic/decide.ts';
import { UNCALIBRATED } from '../../runtime/semantic/equivalence.ts';
import type { Features } from '../../runtime/semantic/features.ts';
import { GUARD_NAMES } from '../../runtime/semantic/guards/guards.ts';
import { PLAIN_LEXICON } from '../../runtime/semantic/lexicons/domain-lexicon.ts';
import type { DomainLexicon } from '../../runtime/semantic/lexicons/domain-lexicon.ts';
import { RarityTable } from '../../runtime/semantic/rarity.ts';
import { SIGNALS, signalsOf } from '../../runtime/semantic/signals.ts';
import { fitNetworks } from './fit.ts';
import type { FitRow } from './fit.ts';
import type { TrainingPair } from './training-pair.ts';

export interface FitEquivalenceOptions {
  readonly seed: number;
  /** Counted beforehand; absent: counted in the texts of the pairs. */
  readonly rarity?: RarityParameters;
  readonly lexicon?: DomainLexicon;
  /** Guards that veto. */
  readonly guards?: readonly string[];
  readonly networks?: number;
  /** Names of signals that don't count. */
  readonly mute?: readonly string[];
  readonly epochs?: number;
}

const LEVELS = 12;
const UNITS = 8;
const TRAP_WORDS = ['exchange', 'addition'];
const TRAP_CONTEXTS = ['exchange-apart', 'addition-apart'];
/**
 * What each network in turn doesn't listen to. These signals tell traps made by small edits, but a rephrasing by small edits looks much
 * the same to them: not all networks may rest on them.
 */
const UNHEARD: readonly (readonly string[])[] = [[...TRAP_WORDS, ...TRAP_CONTEXTS], TRAP_WORDS, TRAP_WORDS, []];
const STEM_LENGTH_MAX = 24;

/** A pair with its signals, and whether a guard refuses it. */
export interface SignalRow extends FitRow {
  readonly vetoed: boolean;
}

/** The signals of pairs, read once for many fits. */
export function signalRows(
  pairs: readonly TrainingPair[],
  options: Pick<FitEquivalenceOptions, 'lexicon' | 'guards'> & { readonly rarity: RarityParameters },
): readonly SignalRow[] {
  const { lexicon = PLAIN_LEXICON, guards = GUARD_NAMES } = options;
  const context = { rarity: new RarityTable(options.rarity), lexicon };
  const policy = { guards, lexicon, similarityMin: -1, probabilityMin: 0, equivalence: UNCALIBRATED };
  return pairs.map(({ asked, stored, similarity, same, weight }) => ({
    signals: signalsOf(asked, stored, similarity, context),
    vetoed: decidePair(policy, asked, stored, similarity, { evidence: true }).vetoes.length > 0,
    same,
    weight,
  }));
}

/**
 * Fits the equivalence model to rows. Repeatable: the same rows in the same order and the same seed give the same numbers.
 * Those that guards refuse aren't learned from, because the model is never asked about them.
 */
export function fitRows(
  rows: readonly SignalRow[],
  options: Pick<FitEquivalenceOptions, 'seed' | 'networks' | 'epochs' | 'mute'> & { readonly rarity: RarityParameters },
): EquivalenceParameters {
  const { seed, networks = UNHEARD.length, epochs = 12, mute = [], rarity } = options;
  const signs = SIGNALS.map(({ direction }) => (direction === 'raises' ? 1 : -1));
  const places = (names: readonly string[]): readonly number[] =>
    SIGNALS.flatMap(({ name }, at) => (names.includes(name) ? [at] : []));
  const silent = (network: number): readonly number[] =>
    places([...mute, ...(UNHEARD[network % UNHEARD.length] ?? [])]);
  const fit = fitNetworks(
    rows.filter(({ vetoed }) => !vetoed),
    { seed, signs, networks, epochs, units: UNITS, silent },
  );
  return { kind: 'monotone-networks', signals: SIGNALS.map(({ name }) => name), ...fit, slope: 1, offset: 0, rarity };
}

/** In how many of the texts each stem comes, by levels of half as many. Stems of one text only are left out: they are as rare as unknown ones. */
export function countRarity(texts: readonly Features[]): RarityParameters {
  const counts = new Map<string, number>();
  for (const { stems } of texts) {
    for (const stem of new Set(stems)) {
      if (stem !== '' && stem.length <= STEM_LENGTH_MAX && !/\s/u.test(stem))
        counts.set(stem, (counts.get(stem) ?? 0) + 1);
    }
  }
  const levels: string[][] = Array.from({ length: LEVELS }, () => []);
  for (const [stem, count] of counts) {
    const level = Math.max(0, Math.floor(Math.log2(texts.length / count)) - 1);
    if (count > 1) levels[Math.min(level, LEVELS - 1)]?.push(stem);
  }
  return { texts: texts.length, levels: levels.map((stems) => stems.sort().join(' ')) };
}
