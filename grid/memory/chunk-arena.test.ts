import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHUNK_BYTES, ChunkArena } from './chunk-arena.ts';

function bytes(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + seed * 17) % 251);
}

const lengths = fc.oneof(
  fc.nat(40),
  fc.constantFrom(CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES),
  fc.nat(9_000),
);

describe('ChunkArena', () => {
  it('gives back what was written, whatever was freed and written meanwhile', () => {
    const steps = fc.array(fc.record({ length: lengths, drop: fc.option(fc.nat()) }), { maxLength: 120 });
    fc.assert(
      fc.property(steps, (script) => {
        const arena = new ChunkArena();
        const live: { handle: number; value: Uint8Array }[] = [];
        script.forEach(({ length, drop }, index) => {
          const value = bytes(length, index);
          live.push({ handle: arena.write(value), value });
          if (drop !== null) {
            const [gone] = live.splice(drop % live.length, 1);
            arena.free(gone!.handle);
          }
          for (const { handle, value: kept } of live) expect(arena.read(handle, kept.length)).toEqual(kept);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('uses the memory of freed values again at once', () => {
    const arena = new ChunkArena();
    const first = Array.from({ length: 1_000 }, (_, index) => arena.write(bytes(2_000, index)));
    const before = arena.bytes;

    for (let round = 0; round < 20; round += 1) {
      for (const handle of first.splice(0)) arena.free(handle);
      for (let index = 0; index < 500; index += 1) first.push(arena.write(bytes(4_000, index)));
    }

    expect(arena.bytes).toBe(before);
  });

  it('hands out copies: neither side can change the other', () => {
    const arena = new ChunkArena();
    const given = bytes(100, 1);
    const handle = arena.write(given);
    given.fill(0);

    const read = arena.read(handle, 100);
    read.fill(9);

    expect(arena.read(handle, 100)).toEqual(bytes(100, 1));
  });

  it('charges at least what a value takes of the blocks', () => {
    const arena = new ChunkArena();
    let charged = 0;
    for (let index = 0; index < 3_000; index += 1) {
      arena.write(bytes(index, index));
      charged += ChunkArena.charge(index);
    }

    expect(arena.bytes - charged).toBeLessThan(1024 * 1024 + 2_048 * 4);
    expect(arena.bytes).toBeGreaterThanOrEqual(charged);
  });
});
