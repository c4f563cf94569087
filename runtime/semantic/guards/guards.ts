import type { Features } from '../features.ts';
import { contextDiffers } from './context.ts';
import { entitiesDiffer } from './entities.ts';
import { polarityDiffers } from './negation.ts';
import { numbersDiffer } from './numbers.ts';
import { rolesDiffer } from './roles.ts';
import { subjectsDiffer } from './subjects.ts';
import { symbolsDiffer } from './symbols.ts';

/** True: the stored answer mustn't be served. Pure, symmetric, defined for all features. */
export type Guard = (a: Features, b: Features) => boolean;

/** Every guard by the name that configuration and evidence use. */
export const GUARDS: ReadonlyMap<string, Guard> = new Map<string, Guard>([
  ['numbers', (a, b) => numbersDiffer(a.numbers, b.numbers)],
  ['negation', (a, b) => polarityDiffers(a, b)],
  ['entities', (a, b) => entitiesDiffer(a.words, b.words)],
  ['roles', (a, b) => rolesDiffer(a.words, b.words) || subjectsDiffer(a.words, b.words)],
  ['context', (a, b) => contextDiffers(a.words, b.words)],
  ['symbols', (a, b) => symbolsDiffer(a.symbols, b.symbols)],
]);

/** Names of all guards, for configuration to check against. */
export const GUARD_NAMES: readonly string[] = [...GUARDS.keys()];

/** The guards of `names` that veto, in that order. A name that isn't known vetoes: a guard that can't run can't clear a candidate. */
export function vetoesOf(names: readonly string[], a: Features, b: Features): readonly string[] {
  return names.filter((name) => GUARDS.get(name)?.(a, b) ?? true);
}
