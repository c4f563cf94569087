import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { LIMITING_CLASSES, QUANTIFIERS } from '../lexicons/scope.ts';
import { compare } from './compare.ts';
import type { Comparison, Rest } from './compare.ts';

/**
 * How far two texts ask for different cases, in [0, 1]: 1 for two members of one class (adults, toddlers), 0.5 for one that only one text
 * has. Symmetric.
 */
export function scopeConflict(a: Features, b: Features, lexicon: DomainLexicon): number {
  const compared = compare(a, b, lexicon);
  const ofA = scopesOf(compared.a, lexicon);
  const ofB = scopesOf(compared.b, lexicon);
  if (ofA.length === 0 && ofB.length === 0) return 0;
  return ofA.some((one) => ofB.some((two) => isOtherOfClass(one, two))) ? 1 : 0.5;
}

const NONE: readonly string[] = [];

function scopesOf(rests: readonly Rest[], lexicon: DomainLexicon): readonly string[] {
  let scopes: string[] | undefined;
  for (const rest of rests) {
    const scope = scopeOf(rest, lexicon);
    if (scope !== undefined) (scopes ??= []).push(scope);
  }
  return scopes ?? NONE;
}

/** True when two texts ask the same for different cases, or one of them for one case only. Symmetric. */
export function scopesDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const compared = compare(a, b, lexicon);
  if (compared.a.length === 0 && compared.b.length === 0) return false;
  if (hasOwnScopeWord(compared.a, lexicon) || hasOwnScopeWord(compared.b, lexicon)) return true;
  const conflict = scopeConflict(a, b, lexicon);
  if (conflict === 1) return compared.near || compared.share >= CASE_SHARE_MIN;
  if (compared.near && compared.a.some(isLimiting(lexicon)) && compared.b.some(isLimiting(lexicon))) return true;
  if (compared.near && (quantifiersDiffer(compared) || ownersDiffer(compared))) return true;
  return conflict > 0 && isLimited(compared, lexicon);
}

const CASE_SHARE_MIN = 0.4;

/** A domain's own scope words count wherever they stand. */
function hasOwnScopeWord(rests: readonly Rest[], lexicon: DomainLexicon): boolean {
  return lexicon.scopeWords.size > 0 && rests.some((rest) => lexicon.scopeWords.has(rest.stem));
}

/** One text says the same as the other, but for one kind of people, animals or places. */
function isLimited(compared: Comparison, lexicon: DomainLexicon): boolean {
  const limits = isLimiting(lexicon);
  if (compared.contained === 1) return compared.b.some(limits);
  if (compared.contained === -1) return compared.a.some(limits);
  return compared.near && compared.a.some(limits) !== compared.b.some(limits);
}

function isLimiting(lexicon: DomainLexicon): (rest: Rest) => boolean {
  return (rest) => {
    const scope = scopeOf(rest, lexicon);
    return scope !== undefined && LIMITING_CLASSES.has(scope.slice(0, scope.indexOf(':')));
  };
}

function scopeOf(rest: Rest, lexicon: DomainLexicon): string | undefined {
  return rest.scope ?? (lexicon.scopeWords.has(rest.stem) ? `own:${rest.stem}` : undefined);
}

function isOtherOfClass(one: string, two: string): boolean {
  if (one === two) return false;
  const end = one.indexOf(':') + 1;
  return two.startsWith(one.slice(0, end));
}

/** "all photos" and "my photos": a word of quantity in one text, where the other has none or another. */
function quantifiersDiffer({ a, b, restA, restB }: Comparison): boolean {
  const ofA = quantifierOf(a);
  const ofB = quantifierOf(b);
  if (ofA === ofB) return false;
  return (ofA !== '' && ofB !== '') || (restA + restB <= 1 && ofA + ofB !== 'single');
}

function quantifierOf(rests: readonly Rest[]): string {
  const found = new Set<string>();
  for (const rest of rests) {
    const quantifier = QUANTIFIERS.get(rest.word);
    if (
      quantifier !== undefined &&
      !(rest.word === 'all' && rests.some(({ word, index }) => word === 'at' && index === rest.index - 1))
    )
      found.add(quantifier);
  }
  return [...found].sort().join(' ');
}

const OWNERS: ReadonlyMap<string, string> = new Map(
  [
    'my mine me myself i our ours us we',
    'your yours you yourself',
    'his him he',
    'her hers she',
    'their theirs them they',
  ].flatMap((row) => row.split(' ').map((word): [string, string] => [word, row.split(' ')[0] ?? ''])),
);

/** "my account" and "their account": a person in each text that the other lacks. */
function ownersDiffer({ a, b }: Comparison): boolean {
  const ofA = ownersOf(a);
  const ofB = ownersOf(b);
  return ofA.size > 0 && ofB.size > 0 && [...ofA].every((owner) => !ofB.has(owner));
}

function ownersOf(rests: readonly Rest[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const rest of rests) {
    const owner = OWNERS.get(rest.word);
    if (owner !== undefined && owner !== 'your') found.add(owner);
  }
  return found;
}
