import { WORD_VECTOR_STEP, type WordVectors } from '../../ports/embedder.ts';

const DIMENSIONS = 96;
/** Each number of the model goes into one dimension of each of so many blocks: as good as into all of them, and quick. */
const BLOCKS = 8;
const BLOCK_DIMENSIONS = DIMENSIONS / BLOCKS;
/** Longer texts have no word vectors: they would cost more than they tell. */
const PIECES_MAX = 48;
const STEPS_MAX = 127;
const SEED = 0x51ed270b;
/** How vocabularies mark a piece that starts a word, where they don't mark those that continue one. */
const STARTS = /^[▁Ġ]/u;
const CONTINUED = '##';
const SPECIAL = /^(?:\[[A-Z]+\]|<\/?[a-z]+>)$/u;
const READABLE = /[\p{L}\p{N}]/u;

/**
 * Makes word vectors from what a model gives for each piece of a text: the mean of a word's pieces, projected on fewer dimensions by a
 * sparse random matrix drawn once and for all (Kane and Nelson 2014), which keeps cosines within a tenth or so.
 */
export class WordSketcher {
  /** Of each number of the model, by block: where it goes, below 0 for what is taken away: -1 - place. */
  #targets = new Int8Array(0);

  /** `hidden` has `width` numbers for each piece. Undefined where there are no words or too many. */
  sketch(pieces: readonly string[], hidden: Float32Array, width: number): WordVectors | undefined {
    if (pieces.length > PIECES_MAX + 2) return undefined;
    const words = wordsOf(pieces);
    if (words.length === 0) return undefined;
    const targets = this.#targetsOf(width);
    const vectors = new Int8Array(words.length * DIMENSIONS);
    const sum = new Float64Array(width);
    const projected = new Float64Array(DIMENSIONS);
    for (const [index, { from, to }] of words.entries()) {
      sum.fill(0);
      for (let piece = from; piece < to; piece += 1) addUnit(sum, hidden, piece * width);
      project(sum, targets, projected);
      quantise(projected, vectors, index * DIMENSIONS);
    }
    return { words: words.map(({ word }) => word), vectors };
  }

  /** Drawn from a fixed seed: word vectors made anywhere compare. */
  #targetsOf(width: number): Int8Array {
    if (this.#targets.length === width * BLOCKS) return this.#targets;
    this.#targets = new Int8Array(width * BLOCKS);
    let state = SEED;
    for (let at = 0; at < this.#targets.length; at += 1) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      const place = (at % BLOCKS) * BLOCK_DIMENSIONS + ((state >>> 8) % BLOCK_DIMENSIONS);
      this.#targets[at] = state < 0 ? -1 - place : place;
    }
    return this.#targets;
  }
}

interface Word {
  readonly word: string;
  /** Its pieces. */
  readonly from: number;
  readonly to: number;
}

function wordsOf(pieces: readonly string[]): readonly Word[] {
  const marksStarts = pieces.some((piece) => STARTS.test(piece));
  const words: { word: string; from: number; to: number }[] = [];
  let open: { word: string; from: number; to: number } | undefined;
  for (const [at, piece] of pieces.entries()) {
    const continued = marksStarts ? !STARTS.test(piece) : piece.startsWith(CONTINUED);
    const text = marksStarts ? piece.replace(STARTS, '') : continued ? piece.slice(CONTINUED.length) : piece;
    if (SPECIAL.test(piece) || !READABLE.test(text)) {
      open = undefined;
    } else if (continued && open !== undefined) {
      open.word += text.toLowerCase();
      open.to = at + 1;
    } else {
      open = { word: text.toLowerCase(), from: at, to: at + 1 };
      words.push(open);
    }
  }
  return words;
}

function addUnit(sum: Float64Array, hidden: Float32Array, from: number): void {
  let squares = 0;
  for (let i = 0; i < sum.length; i += 1) squares += hidden[from + i]! ** 2;
  const factor = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  for (let i = 0; i < sum.length; i += 1) sum[i]! += hidden[from + i]! * factor;
}

function project(vector: Float64Array, targets: Int8Array, projected: Float64Array): void {
  projected.fill(0);
  for (let i = 0; i < vector.length; i += 1) {
    const value = vector[i]!;
    const from = i * BLOCKS;
    for (let block = 0; block < BLOCKS; block += 1) {
      const target = targets[from + block]!;
      if (target < 0) projected[-1 - target]! -= value;
      else projected[target]! += value;
    }
  }
}

function quantise(vector: Float64Array, into: Int8Array, from: number): void {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const factor = squares > 0 ? 1 / (Math.sqrt(squares) * WORD_VECTOR_STEP) : 0;
  for (let i = 0; i < vector.length; i += 1) {
    into[from + i] = Math.max(-STEPS_MAX, Math.min(STEPS_MAX, Math.round(vector[i]! * factor)));
  }
}
