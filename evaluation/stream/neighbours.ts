import { FlatIndex } from '../../runtime/semantic/flat-index.ts';

/** An earlier question and how near it is. */
export interface Neighbour {
  /** Position in the stream. */
  readonly at: number;
  readonly similarity: number;
}

/** Of each question all those before it that are near enough, the nearest first: whatever a run of the stream may find stored. */
export class Neighbours {
  readonly #lists: readonly (readonly Neighbour[])[];

  /** `floor`: least similarity of a neighbour. The search is the node's own. */
  constructor(vectors: readonly Float32Array[], floor: number) {
    const index = new FlatIndex(vectors[0]?.length ?? 1);
    this.#lists = vectors.map((vector, at) => {
      const matches = index.search(vector, vectors.length, floor);
      index.add(idOf(at), vector);
      return matches.map(({ id, similarity }) => ({ at: Number(id), similarity }));
    });
  }

  /** The `count` nearest of the stored questions before `at`. */
  nearest(at: number, count: number, isStored: (at: number) => boolean): readonly Neighbour[] {
    const found: Neighbour[] = [];
    for (const neighbour of this.#lists[at] ?? []) {
      if (!isStored(neighbour.at)) continue;
      found.push(neighbour);
      if (found.length === count) break;
    }
    return found;
  }
}

/** Ids of one width order like the numbers. */
function idOf(at: number): string {
  return String(at).padStart(9, '0');
}
