import type { TraceColumn } from '../batch-builder.ts';
import type { SpecValues } from './spec-values.ts';

const SIZE_SALT = 0x9e3779b9;
const COST_SALT = 0x7f4a7c15;
const TWO_32 = 2 ** 32;

/** Sizes and costs of generated keys: log-normal, and the same whenever a key comes again. */
export class KeyTraits {
  readonly #size: { readonly mean: number; readonly spread: number } | undefined;
  readonly #cost: { readonly mean: number; readonly spread: number } | undefined;
  readonly #seed: number;

  constructor(values: SpecValues, seed: number) {
    this.#seed = seed;
    const size = { mean: values.number('size', 0, { most: 1e8 }), spread: values.number('sizeSpread', 1, { most: 3 }) };
    const cost = { mean: values.number('cost', 0, { most: 1e9 }), spread: values.number('costSpread', 1, { most: 3 }) };
    this.#size = size.mean > 0 ? size : undefined;
    this.#cost = cost.mean > 0 ? cost : undefined;
  }

  get columns(): readonly TraceColumn[] {
    return [
      ...(this.#size === undefined ? [] : ['sizes' as const]),
      ...(this.#cost === undefined ? [] : ['costs' as const]),
    ];
  }

  sizeOf(key: number): number {
    return this.#size === undefined ? 1 : Math.max(1, Math.round(this.#draw(key ^ SIZE_SALT, this.#size)));
  }

  costOf(key: number): number {
    return this.#cost === undefined ? 0 : this.#draw(key ^ COST_SALT, this.#cost);
  }

  #draw(key: number, { mean, spread }: { readonly mean: number; readonly spread: number }): number {
    const first = (scrambled(key + this.#seed) + 1) / (TWO_32 + 1);
    const second = scrambled(key * 31 + this.#seed + 1) / TWO_32;
    const normal = Math.sqrt(-2 * Math.log(first)) * Math.cos(2 * Math.PI * second);
    return mean * Math.exp(spread * normal - (spread * spread) / 2);
  }
}

/** 32 bits that look random for each key; the multipliers are the finaliser's of MurmurHash3 (A. Appleby, public domain). */
function scrambled(key: number): number {
  let hash = key | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
