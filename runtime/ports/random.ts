/** Randomness as core rooms see it: seedable, and forked by name so that a new draw in one part leaves others unchanged. */
export interface Random {
  /** An integer in [0, 2^32). */
  uint32(): number;
  /** A float in [0, 1). */
  float(): number;
  /** An independent stream, determined by this one's seed and `name`. */
  fork(name: string): Random;
}
