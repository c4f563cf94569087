import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { antonymsDiffer } from './antonyms.ts';
import { calendarsDiffer } from './calendar.ts';
import { codesDiffer } from './codes.ts';
import { contextDiffers } from './context.ts';
import { dependsOnContext } from './ellipsis.ts';
import { entitiesDiffer } from './entities.ts';
import { languagesDiffer } from './language.ts';
import { negationsDiffer } from './negation.ts';
import { amountsDiffer, datesDiffer } from './quantities.ts';
import { questionsDiffer } from './questions.ts';
import { rolesSwapped } from './roles.ts';
import { scopesDiffer } from './scope.ts';
import { symbolsDiffer } from './symbols.ts';
import { termsDiffer } from './terms.ts';
import { conditionDiffers, tensesDiffer } from './tense.ts';
import { wordingsDiffer } from './wording.ts';

/** True: the stored answer mustn't be served. Pure, symmetric, defined for all features. */
export type Guard = (a: Features, b: Features, lexicon: DomainLexicon) => boolean;

/** Every guard by the name that configuration and evidence use. */
export const GUARDS: ReadonlyMap<string, Guard> = new Map<string, Guard>([
  ['numbers', amountsDiffer],
  ['dates', (a, b, lexicon) => datesDiffer(a, b, lexicon) || calendarsDiffer(a, b, lexicon)],
  ['negation', negationsDiffer],
  ['antonyms', (a, b, lexicon) => antonymsDiffer(a, b, lexicon) || termsDiffer(a, b, lexicon)],
  ['entities', entitiesDiffer],
  ['roles', rolesSwapped],
  ['scope', scopesDiffer],
  ['question', questionsDiffer],
  ['tense', tensesDiffer],
  ['condition', conditionDiffers],
  ['language', languagesDiffer],
  ['code', codesDiffer],
  ['context', contextDiffers],
  ['ellipsis', dependsOnContext],
  ['symbols', symbolsDiffer],
  ['wording', wordingsDiffer],
]);

/** Names of all guards, for configuration to check against. */
export const GUARD_NAMES: readonly string[] = [...GUARDS.keys()];

/** The guards of `names` that veto, in that order. A name that isn't known vetoes: a guard that can't run can't clear a candidate. */
export function vetoesOf(
  names: readonly string[],
  a: Features,
  b: Features,
  lexicon: DomainLexicon,
): readonly string[] {
  const vetoes: string[] = [];
  for (const name of names) if (isVetoed(name, a, b, lexicon)) vetoes.push(name);
  return vetoes;
}

/** The first guard of `names` that vetoes; undefined: none does. */
export function firstVetoOf(
  names: readonly string[],
  a: Features,
  b: Features,
  lexicon: DomainLexicon,
): string | undefined {
  for (const name of names) if (isVetoed(name, a, b, lexicon)) return name;
  return undefined;
}

function isVetoed(name: string, a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const guard = GUARDS.get(name);
  return guard === undefined || guard(a, b, lexicon);
}

/** The guards of `names` that don't know the language of a text: they clear nothing, so the strict threshold must hold. */
export function unknownTo(names: readonly string[], features: Features): readonly string[] {
  return features.language === 'en' ? [] : names.filter((name) => SPEAKING.has(name));
}

/** Guards that read words; the others read figures and signs, which are alike everywhere. */
const SPEAKING = new Set(
  'negation antonyms entities roles scope question tense condition context ellipsis wording'.split(' '),
);
