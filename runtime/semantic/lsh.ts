import { assert } from '../errors.ts';
import type { Hash } from '../ports/hash.ts';

/** A vector's LSH code and how far it lies from each hyperplane; the sign of `margins[i]` is bit `i`. */
export interface LshCode {
  readonly code: number;
  readonly margins: Float64Array;
}

/** A range of LSH codes, both ends included. */
export interface CodeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Codes of vectors by random hyperplanes. The planes are drawn from the embedder's id, so that all nodes with that
 * embedder agree and no other embedder's codes can be mistaken for its.
 */
export class LshCoder {
  readonly bits: number;
  readonly #planes: Float64Array;
  readonly #dimensions: number;

  constructor(hash: Hash, options: { embedderId: string; dimensions: number; bits: number }) {
    assert(options.bits >= 1 && options.bits <= 32, 'an LSH code has 1 to 32 bits');
    this.bits = options.bits;
    this.#dimensions = options.dimensions;
    this.#planes = drawPlanes(hash.sha256(`lsh/1/${options.embedderId}`), options.bits * options.dimensions);
  }

  code(vector: Float32Array): LshCode {
    assert(vector.length === this.#dimensions, 'a vector has the dimensions of its embedder');
    const margins = new Float64Array(this.bits);
    let code = 0;
    for (let bit = 0; bit < this.bits; bit += 1) {
      const offset = bit * this.#dimensions;
      let sum = 0;
      for (let i = 0; i < vector.length; i += 1) sum += (vector[i] ?? 0) * (this.#planes[offset + i] ?? 0);
      margins[bit] = sum;
      if (sum >= 0) code = (code | (1 << bit)) >>> 0;
    }
    return { code, margins };
  }

  /**
   * The code itself and up to `probesMax` neighbours, likeliest first: by the sum of squared margins of the flipped bits
   * (query-directed probing: Lv et al., "Multi-Probe LSH", VLDB 2007, section 4.4). Ties: the smaller code first.
   */
  probes(coded: LshCode, probesMax: number): readonly number[] {
    const order = [...coded.margins.keys()].sort(
      (a, b) => square(coded.margins, a) - square(coded.margins, b) || a - b,
    );
    const codes = [coded.code];
    const frontier: Perturbation[] = order.length === 0 ? [] : [perturbation(coded, order, [0])];
    while (codes.length <= probesMax && frontier.length > 0) {
      const best = takeBest(frontier);
      codes.push(best.code);
      const last = best.ranks.at(-1) ?? 0;
      if (last + 1 >= order.length) continue;
      frontier.push(perturbation(coded, order, [...best.ranks.slice(0, -1), last + 1]));
      frontier.push(perturbation(coded, order, [...best.ranks, last + 1]));
    }
    return codes;
  }
}

/** All codes of `bits` bits: the range of a scope's only cell while the scope isn't split. */
export function wholeRange(bits: number): CodeRange {
  return { from: 0, to: 2 ** bits - 1 };
}

/** The range, at a depth, that holds a code: depth 0 is one cell for all, each further level halves it. */
export function rangeOf(code: number, depth: number, bits: number): CodeRange {
  assert(depth >= 0 && depth <= bits, 'a cell is no finer than a code');
  const width = 2 ** (bits - depth);
  const from = Math.floor(code / width) * width;
  return { from, to: from + width - 1 };
}

interface Perturbation {
  /** Ascending ranks, in the order of margins, of the bits that are flipped. */
  readonly ranks: readonly number[];
  readonly score: number;
  readonly code: number;
}

function perturbation(coded: LshCode, order: readonly number[], ranks: readonly number[]): Perturbation {
  let score = 0;
  let code = coded.code;
  for (const rank of ranks) {
    const bit = order[rank] ?? 0;
    score += square(coded.margins, bit);
    code = (code ^ (1 << bit)) >>> 0;
  }
  return { ranks, score, code };
}

function takeBest(frontier: Perturbation[]): Perturbation {
  let best = 0;
  for (let i = 1; i < frontier.length; i += 1) {
    const a = frontier[i];
    const b = frontier[best];
    if (a !== undefined && b !== undefined && (a.score < b.score || (a.score === b.score && a.code < b.code))) best = i;
  }
  const [taken] = frontier.splice(best, 1);
  assert(taken !== undefined, 'the frontier holds its best');
  return taken;
}

function square(margins: Float64Array, bit: number): number {
  const margin = margins[bit] ?? 0;
  return margin * margin;
}

/** Near-normal numbers by sums of uniform ones: exact in doubles, so equal on every machine, which logarithms are not. */
function drawPlanes(seed: Uint8Array, count: number): Float64Array {
  const next = splitMix32(new DataView(seed.buffer, seed.byteOffset, seed.byteLength).getUint32(0, true));
  const planes = new Float64Array(count);
  for (let i = 0; i < count; i += 1) planes[i] = (next() + next() + next() + next()) / 2 ** 32 - 2;
  return planes;
}

/** SplitMix with 32-bit words (Steele, Lea and Flood, OOPSLA 2014); its period covers every plane that we draw. */
function splitMix32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let word = state ^ (state >>> 16);
    word = Math.imul(word, 0x21f0aaad);
    word ^= word >>> 15;
    word = Math.imul(word, 0x735a2d97);
    return (word ^ (word >>> 15)) >>> 0;
  };
}
