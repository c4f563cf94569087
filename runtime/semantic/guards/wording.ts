import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { additionsDiffer } from './additions.ts';
import { compare } from './compare.ts';
import { formsDiffer } from './forms.ts';
import { givenTextsDiffer } from './given-text.ts';
import { modalitiesDiffer } from './modality.ts';
import { relationsDiffer } from './relations.ts';
import { haveSameWords, slotsOf } from './slots.ts';

/** Texts with more words of meaning of their own aren't the same but for little words. */
const REST_MAX = 2;

/**
 * True when two texts have the same words of meaning in the same order and differ in a little word or a form that turns the meaning: "under"
 * and "on the table", "must" and "may", "an example" and "examples", "has" and "had"; or in a text that is given to be worked on. Symmetric.
 */
export function wordingsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  if (a.language !== 'en' || b.language !== 'en') return false;
  if (givenTextsDiffer(a, b)) return true;
  const { restA, restB } = compare(a, b, lexicon);
  if (Math.max(restA, restB) > REST_MAX) return false;
  const [one, two] = [slotsOf(a), slotsOf(b)];
  if (modalitiesDiffer(one, two) || additionsDiffer(one, two)) return true;
  return haveSameWords(one, two) && (relationsDiffer(one, two) || formsDiffer(one, two));
}
