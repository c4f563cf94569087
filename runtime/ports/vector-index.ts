export interface VectorMatch {
  readonly id: string;
  /** Cosine similarity in [-1, 1]; higher is nearer. */
  readonly similarity: number;
}

/** An in-memory index of unit vectors by id. Ties are broken by id, ascending. */
export interface VectorIndex {
  readonly size: number;
  /** Replaces a vector with the same id. */
  add(id: string, vector: Float32Array): void;
  /** True when the id was there. */
  remove(id: string): boolean;
  /** At most `k` matches with similarity ≥ `floor`, nearest first. */
  search(vector: Float32Array, k: number, floor: number): readonly VectorMatch[];
}
