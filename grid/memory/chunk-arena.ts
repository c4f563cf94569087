import { assert } from '../../runtime/errors.ts';

/** Bytes that a value is cut into; the last chunk of a value is not full. */
export const CHUNK_BYTES = 512;
const BLOCK_CHUNKS = 2_048;
const BLOCK_BYTES = BLOCK_CHUNKS * CHUNK_BYTES;
/** What a chunk costs beside its bytes: its link. */
const LINK_BYTES = 4;
const END = -1;

interface Block {
  readonly bytes: Uint8Array;
  /** The next chunk of the same value, or the next free one. */
  readonly next: Int32Array;
}

/**
 * Values in chunks of a few large blocks, so that a value that was dropped gives its memory back at once, without waiting for
 * the garbage collector, and neighbours of other sizes leave no holes. Values are copied in and out. Blocks are made when they
 * are first needed and kept: at most what was held at the busiest moment.
 */
export class ChunkArena {
  readonly #blocks: Block[] = [];
  #free = END;

  /** Bytes of all blocks. */
  get bytes(): number {
    return this.#blocks.length * (BLOCK_BYTES + BLOCK_CHUNKS * LINK_BYTES);
  }

  /** What a value of this length takes, links included, bytes. */
  static charge(length: number): number {
    return chunksOf(length) * (CHUNK_BYTES + LINK_BYTES);
  }

  /** Copies a value in; the handle is good until `free`. */
  write(value: Uint8Array): number {
    let first = END;
    let last = END;
    for (let at = 0; at < value.byteLength || first === END; at += CHUNK_BYTES) {
      const chunk = this.#take();
      const { bytes } = this.#blockOf(chunk);
      bytes.set(value.subarray(at, at + CHUNK_BYTES), offsetOf(chunk));
      if (last === END) first = chunk;
      else this.#link(last, chunk);
      last = chunk;
    }
    this.#link(last, END);
    return first;
  }

  /** A copy of the value behind a handle. */
  read(handle: number, length: number): Uint8Array {
    const value = new Uint8Array(length);
    let chunk = handle;
    for (let at = 0; at < length;) {
      const { bytes, next } = this.#blockOf(chunk);
      const offset = offsetOf(chunk);
      // Chunks that were taken one after the other lie side by side: one copy for all of them.
      let run = CHUNK_BYTES;
      for (; run < length - at && next[chunk % BLOCK_CHUNKS] === chunk + 1; run += CHUNK_BYTES) {
        if ((chunk + 1) % BLOCK_CHUNKS === 0) break;
        chunk += 1;
      }
      value.set(bytes.subarray(offset, offset + Math.min(run, length - at)), at);
      at += run;
      chunk = next[chunk % BLOCK_CHUNKS]!;
    }
    return value;
  }

  /** Gives the chunks of a value back; its handle is worthless from now on. */
  free(handle: number): void {
    let last = handle;
    for (let next = this.#next(last); next !== END; next = this.#next(last)) last = next;
    this.#link(last, this.#free);
    this.#free = handle;
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#free = END;
  }

  #take(): number {
    if (this.#free === END) this.#grow();
    const chunk = this.#free;
    this.#free = this.#next(chunk);
    return chunk;
  }

  #grow(): void {
    const first = this.#blocks.length * BLOCK_CHUNKS;
    const next = new Int32Array(BLOCK_CHUNKS);
    for (let index = 0; index < BLOCK_CHUNKS; index += 1) next[index] = first + index + 1;
    next[BLOCK_CHUNKS - 1] = END;
    this.#blocks.push({ bytes: new Uint8Array(BLOCK_BYTES), next });
    this.#free = first;
  }

  #next(chunk: number): number {
    return this.#blockOf(chunk).next[chunk % BLOCK_CHUNKS]!;
  }

  #link(chunk: number, next: number): void {
    this.#blockOf(chunk).next[chunk % BLOCK_CHUNKS] = next;
  }

  #blockOf(chunk: number): Block {
    const block = this.#blocks[Math.floor(chunk / BLOCK_CHUNKS)];
    assert(block !== undefined, 'a chunk lies in a block');
    return block;
  }
}

function chunksOf(length: number): number {
  return Math.max(1, Math.ceil(length / CHUNK_BYTES));
}

function offsetOf(chunk: number): number {
  return (chunk % BLOCK_CHUNKS) * CHUNK_BYTES;
}
