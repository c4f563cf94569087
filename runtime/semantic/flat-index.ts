import { assert } from '../errors.ts';
import type { VectorIndex, VectorMatch } from '../ports/vector-index.ts';

const BLOCK_VECTORS = 256;
const FIRST_BLOCK_VECTORS = 4;

/**
 * The reference vector index: exact cosine over every vector it holds. Vectors lie packed in blocks, so that growth copies
 * one small block at most and removal moves one vector.
 */
export class FlatIndex implements VectorIndex {
  readonly #dimensions: number;
  readonly #blocks: Float32Array[] = [];
  readonly #ids: string[] = [];
  readonly #slots = new Map<string, number>();

  constructor(dimensions: number) {
    assert(dimensions >= 1, 'a vector has at least one dimension');
    this.#dimensions = dimensions;
  }

  get size(): number {
    return this.#ids.length;
  }

  has(id: string): boolean {
    return this.#slots.has(id);
  }

  add(id: string, vector: Float32Array): void {
    assert(vector.length === this.#dimensions, 'a vector has the dimensions of its index');
    let slot = this.#slots.get(id);
    if (slot === undefined) {
      slot = this.#ids.length;
      this.#makeRoom(slot);
      this.#ids.push(id);
      this.#slots.set(id, slot);
    }
    this.#block(slot).set(vector, (slot % BLOCK_VECTORS) * this.#dimensions);
  }

  remove(id: string): boolean {
    const slot = this.#slots.get(id);
    if (slot === undefined) return false;
    this.#slots.delete(id);
    const lastSlot = this.#ids.length - 1;
    const lastId = this.#ids.pop();
    if (slot !== lastSlot && lastId !== undefined) {
      const from = (lastSlot % BLOCK_VECTORS) * this.#dimensions;
      const moved = this.#block(lastSlot).subarray(from, from + this.#dimensions);
      this.#block(slot).set(moved, (slot % BLOCK_VECTORS) * this.#dimensions);
      this.#ids[slot] = lastId;
      this.#slots.set(lastId, slot);
    }
    if (lastSlot % BLOCK_VECTORS === 0) this.#blocks.pop();
    return true;
  }

  search(vector: Float32Array, k: number, floor: number): readonly VectorMatch[] {
    assert(vector.length === this.#dimensions, 'a vector has the dimensions of its index');
    const best: VectorMatch[] = [];
    let bar = floor;
    for (let slot = 0; k > 0 && slot < this.#ids.length; slot += 1) {
      const product = dot(vector, this.#block(slot), (slot % BLOCK_VECTORS) * this.#dimensions);
      const similarity = product > 1 ? 1 : product < -1 ? -1 : product;
      if (!(similarity >= bar)) continue;
      insert(best, { id: this.#ids[slot] ?? '', similarity });
      if (best.length > k) best.pop();
      if (best.length === k) bar = best.at(-1)?.similarity ?? floor;
    }
    return best;
  }

  #block(slot: number): Float32Array {
    const block = this.#blocks[Math.floor(slot / BLOCK_VECTORS)];
    assert(block !== undefined, 'every slot has a block');
    return block;
  }

  #makeRoom(slot: number): void {
    const index = Math.floor(slot / BLOCK_VECTORS);
    const needed = ((slot % BLOCK_VECTORS) + 1) * this.#dimensions;
    const block = this.#blocks[index];
    if (block === undefined) {
      const vectors = index === 0 ? FIRST_BLOCK_VECTORS : BLOCK_VECTORS;
      this.#blocks.push(new Float32Array(vectors * this.#dimensions));
    } else if (block.length < needed) {
      const grown = new Float32Array(Math.min(block.length * 2, BLOCK_VECTORS * this.#dimensions));
      grown.set(block);
      this.#blocks[index] = grown;
    }
  }
}

/** Nearest first, ties by id. */
export function compareMatches(a: VectorMatch, b: VectorMatch): number {
  return b.similarity - a.similarity || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function insert(best: VectorMatch[], match: VectorMatch): void {
  let at = best.length;
  while (at > 0) {
    const before = best[at - 1];
    if (before === undefined || compareMatches(before, match) <= 0) break;
    at -= 1;
  }
  best.splice(at, 0, match);
}

/** Four sums side by side keep the processor's pipelines full. */
function dot(a: Float32Array, block: Float32Array, offset: number): number {
  const length = a.length;
  const even = length - (length % 4);
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  let i = 0;
  for (; i < even; i += 4) {
    sum0 += a[i]! * block[offset + i]!;
    sum1 += a[i + 1]! * block[offset + i + 1]!;
    sum2 += a[i + 2]! * block[offset + i + 2]!;
    sum3 += a[i + 3]! * block[offset + i + 3]!;
  }
  for (; i < length; i += 1) sum0 += a[i]! * block[offset + i]!;
  return sum0 + sum1 + (sum2 + sum3);
}
