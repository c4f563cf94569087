import type { WordVectors } from '../ports/embedder.ts';
import { extractFeatures } from './features.ts';
import type { Features } from './features.ts';
import { sketchOf } from './sketch.ts';
import type { Sketch } from './sketch.ts';

/** One text of a pair. */
export interface PairSide {
  /** As `normaliseAskedText` leaves it. */
  readonly text: string;
  readonly features: Features;
  /** Absent: nothing is known of its words in their context, which never speaks for a pair. */
  readonly sketch?: Sketch;
}

/** The side of a normalised text with what its embedder made of its words; `features`: the text's, read anew unless given. */
export function pairSide(text: string, wordVectors?: WordVectors, features = extractFeatures(text)): PairSide {
  const sketch = sketchOf(features, wordVectors);
  return sketch === undefined ? { text, features } : { text, features, sketch };
}
