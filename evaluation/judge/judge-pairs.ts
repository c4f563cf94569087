import { similarityOf, type EmbedOptions, type TextEmbedder } from '../embedding/text-embedder.ts';
import type { EmbeddedText } from '../embedding/vector-folder.ts';
import type { LabelledPair } from '../pairs/labelled-pair.ts';
import { normaliseAskedText } from '../../runtime/semantic/asked-text.ts';
import { decidePair, type PairSide, type PairVerdict } from '../../runtime/semantic/decide.ts';
import { pairSide } from '../../runtime/semantic/pair-side.ts';
import type { DomainPolicy } from '../../runtime/semantic/policies.ts';

/** Two texts, ready to be decided about. */
export interface PreparedPair {
  readonly pair: LabelledPair;
  readonly stored: PairSide;
  readonly asked: PairSide;
  readonly similarity: number;
  /** A text is longer than the embedder's window: the node neither stores nor asks for it by meaning. */
  readonly beyondWindow: boolean;
}

/** A pair and what a node would do. */
export interface JudgedPair {
  readonly pair: LabelledPair;
  /** Domain whose policy decided. */
  readonly policyDomain: string;
  readonly similarity: number;
  /** 0 when vetoed. */
  readonly probability: number;
  readonly vetoes: readonly string[];
  readonly serve: boolean;
  readonly reason: PairVerdict['reason'];
}

/** Name, beside the guards', of a pair with a text beyond the embedder's window. */
export const WINDOW_VETO = 'window';

/** Embeds and reads the texts of all pairs, each distinct text once. */
export async function preparePairs(
  pairs: readonly LabelledPair[],
  embedder: TextEmbedder,
  options: EmbedOptions = {},
): Promise<readonly PreparedPair[]> {
  const texts = pairs.flatMap(({ a, b }) => [normaliseAskedText(a), normaliseAskedText(b)]);
  const embedded = await embedder.embed(texts, options);
  const sides = new Map<string, PairSide>();
  const sideOf = (text: string, { wordVectors }: EmbeddedText): PairSide => {
    let side = sides.get(text);
    if (side === undefined) sides.set(text, (side = pairSide(text, wordVectors)));
    return side;
  };
  return pairs.map((pair, index) => {
    const [stored, asked] = [embedded[2 * index], embedded[2 * index + 1]] as [EmbeddedText, EmbeddedText];
    const beyondWindow = stored.truncated || asked.truncated;
    return {
      pair,
      stored: sideOf(texts[2 * index] ?? '', stored),
      asked: sideOf(texts[2 * index + 1] ?? '', asked),
      similarity: beyondWindow ? 0 : similarityOf(stored.vector, asked.vector),
      beyondWindow,
    };
  });
}

/** Decides about one pair by the code that a node serves with. */
export function judgePair(prepared: PreparedPair, policy: DomainPolicy): JudgedPair {
  const { pair, stored, asked, similarity } = prepared;
  const base = { pair, policyDomain: policy.name, similarity };
  if (prepared.beyondWindow) {
    return { ...base, probability: 0, vetoes: [WINDOW_VETO], serve: false, reason: 'vetoed' };
  }
  const { probability, vetoes, serve, reason } = decidePair(policy, asked, stored, similarity, { evidence: true });
  return { ...base, probability, vetoes, serve, reason };
}

/** The line of a judged pair in `--json`. */
export function judgedLine({ pair, similarity, probability, vetoes, serve }: JudgedPair): string {
  const { a, b, same, domain, category } = pair;
  const label = same === null ? null : same ? 1 : 0;
  return `${JSON.stringify({ a, b, same: label, domain, category, similarity, probability, vetoes, serve })}\n`;
}
