import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arc } from './arc.ts';
import type { Resident } from './eviction-policy.ts';

/** Figure 4 of the paper, word by word; lists have their newest first, and steps of the target are whole. */
class PaperArc {
  readonly #size: number;
  readonly #t1: string[] = [];
  readonly #t2: string[] = [];
  readonly #b1: string[] = [];
  readonly #b2: string[] = [];
  #target = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get resident(): readonly string[] {
    return [...this.#t1, ...this.#t2].sort();
  }

  ask(key: string): void {
    const [t1, t2, b1, b2] = [this.#t1, this.#t2, this.#b1, this.#b2];
    if (take(t1, key) || take(t2, key)) {
      t2.unshift(key);
    } else if (b1.includes(key)) {
      this.#target = Math.min(this.#size, this.#target + Math.max(1, Math.floor(b2.length / b1.length)));
      this.#replace(false);
      take(b1, key);
      t2.unshift(key);
    } else if (b2.includes(key)) {
      this.#target = Math.max(0, this.#target - Math.max(1, Math.floor(b1.length / b2.length)));
      this.#replace(true);
      take(b2, key);
      t2.unshift(key);
    } else {
      this.#makeRoom();
      t1.unshift(key);
    }
  }

  #makeRoom(): void {
    const size = this.#size;
    const recent = this.#t1.length + this.#b1.length;
    const all = recent + this.#t2.length + this.#b2.length;
    if (recent === size) {
      if (this.#t1.length === size) {
        this.#t1.pop();
        return;
      }
      this.#b1.pop();
      this.#replace(false);
    } else if (all >= size) {
      if (all === 2 * size) this.#b2.pop();
      this.#replace(false);
    }
  }

  #replace(isInB2: boolean): void {
    const recent = this.#t1.length;
    if (recent > 0 && (recent > this.#target || (isInB2 && recent === this.#target))) this.#b1.unshift(this.#t1.pop()!);
    else this.#b2.unshift(this.#t2.pop()!);
  }
}

function take(list: string[], key: string): boolean {
  const at = list.indexOf(key);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}

describe('Arc', () => {
  it('keeps what the figure of the paper keeps, where every entry is one byte', () => {
    const sizes = fc.integer({ min: 1, max: 4 });
    const keys = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 150, size: 'max' });
    fc.assert(
      fc.property(sizes, keys, (size, asked) => {
        const paper = new PaperArc(size);
        const arc = new Arc<string>(size);
        const resident = new Map<string, Resident<string>>();
        for (const number of asked) {
          const key = String(number);
          paper.ask(key);
          const known = resident.get(key);
          if (known !== undefined) arc.touch(known);
          else {
            const admission = arc.insert(key, 1);
            for (const victim of admission.victims) resident.delete(victim.key);
            if (admission.resident !== undefined) resident.set(key, admission.resident);
          }
          expect([...resident.keys()].sort()).toEqual(paper.resident);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
