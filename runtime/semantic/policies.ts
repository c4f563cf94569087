import type { Calibration } from '../ports/calibration.ts';
import type { DomainOptions } from '../ports/options.ts';
import type { PairPolicy } from './decide.ts';
import { MonotoneEquivalence, UNCALIBRATED, type Equivalence } from './equivalence.ts';
import { compileLexicon } from './lexicons/domain-lexicon.ts';

/** A domain as pairs are held against it. */
export interface DomainPolicy extends PairPolicy {
  readonly name: string;
  /** Least probability that the verifier must give; undefined: it isn't asked. */
  readonly verifiedMin: number | undefined;
  readonly observeOnly: boolean;
  /** True when both minima come from a calibration in force. */
  readonly calibrated: boolean;
  readonly hasLexicon: boolean;
}

/** The policies of all domains. `calibration` as `parseCalibration` has checked it, made for the embedder in use. */
export function compilePolicies(
  domains: Readonly<Record<string, DomainOptions>>,
  calibration: Calibration | undefined,
): ReadonlyMap<string, DomainPolicy> {
  const shared = calibration === undefined ? UNCALIBRATED : new MonotoneEquivalence(calibration.equivalence);
  const own = new Map<string, Equivalence>();
  for (const [name, { equivalence }] of Object.entries(calibration?.domains ?? {})) {
    if (equivalence !== undefined) own.set(name, new MonotoneEquivalence(equivalence));
  }
  return new Map(
    Object.entries(domains).map(([name, domain]): [string, DomainPolicy] => [
      name,
      {
        name,
        guards: domain.guards,
        lexicon: compileLexicon(domain.lexicon),
        similarityMin: domain.similarityMin,
        probabilityMin: domain.probabilityMin,
        equivalence: own.get(domain.calibratedAs ?? '') ?? shared,
        verifiedMin: domain.verifiedMin,
        observeOnly: domain.observeOnly === true,
        calibrated: domain.calibratedAs !== undefined,
        hasLexicon: Object.keys(domain.lexicon ?? {}).length > 0,
      },
    ]),
  );
}

/** True when whatever `base` serves is served by `asked` too: to hold a pair against `asked` as well would change nothing. */
export function isNowhereStricter(asked: DomainPolicy, base: DomainPolicy): boolean {
  return (
    asked.similarityMin <= base.similarityMin &&
    asked.probabilityMin <= base.probabilityMin &&
    asked.equivalence === base.equivalence &&
    asked.guards.every((guard) => base.guards.includes(guard)) &&
    (asked.verifiedMin ?? -1) <= (base.verifiedMin ?? -1) &&
    (!asked.observeOnly || base.observeOnly) &&
    !asked.hasLexicon &&
    !base.hasLexicon
  );
}
