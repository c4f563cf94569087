import { assert } from '../errors.ts';

const GONE = new Uint8Array(0);
/** Dropped chunks that make it worth moving the others up. */
const COMPACT_MIN = 256;

/**
 * The chunks of one answer, in order, and how many readers stand before each. Positions count chunks from the start of the
 * answer and stay true after the beginning was dropped.
 */
export class FlightRecording {
  /** Chunk of position `#base + i`; those before `#first` are gone. */
  #chunks: Uint8Array[] = [];
  /** Readers that take the chunk of position `#base + i` next; one place longer than `#chunks`. */
  #readers: number[] = [0];
  #base = 0;
  #first = 0;
  #bytes = 0;
  #heldBytes = 0;
  #trimming = false;

  /** Bytes of the answer so far, dropped ones included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that are still here; once trimming, that is how far the slowest reader is behind. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Position past the last chunk. */
  get end(): number {
    return this.#base + this.#chunks.length;
  }

  append(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#readers.push(0);
    this.#bytes += chunk.length;
    this.#heldBytes += chunk.length;
    if (this.#trimming) this.#trim();
  }

  /** Takes on a reader at the start of the answer; returns its position. */
  enter(): number {
    assert(!this.#trimming, 'a reader entered a recording whose beginning may be gone');
    this.#readers[0] = (this.#readers[0] ?? 0) + 1;
    return 0;
  }

  /** The chunk at a reader's position, which is before the end. */
  at(position: number): Uint8Array {
    const chunk = this.#chunks[position - this.#base];
    assert(position >= this.#first && chunk !== undefined, 'a reader stands outside the recording');
    return chunk;
  }

  /** Moves a reader past the chunk at `position`; returns its new position. */
  advance(position: number): number {
    this.#move(position, -1);
    this.#move(position + 1, 1);
    if (this.#trimming && position === this.#first) this.#trim();
    return position + 1;
  }

  exit(position: number): void {
    this.#move(position, -1);
    if (this.#trimming && position === this.#first) this.#trim();
  }

  /** From now on, chunks that every reader has taken are dropped. */
  startTrimming(): void {
    this.#trimming = true;
    this.#trim();
  }

  /** The whole answer so far in one piece, without a copy when it is one chunk; undefined once trimming. */
  whole(): Uint8Array | undefined {
    if (this.#trimming) return undefined;
    const only = this.#chunks[0];
    if (only !== undefined && this.#chunks.length === 1) return only;
    const whole = new Uint8Array(this.#bytes);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    return whole;
  }

  #move(position: number, by: number): void {
    const index = position - this.#base;
    const count = (this.#readers[index] ?? 0) + by;
    assert(count >= 0, 'more readers left a place in a recording than were there');
    this.#readers[index] = count;
  }

  #trim(): void {
    let index = this.#first - this.#base;
    while (index < this.#chunks.length && this.#readers[index] === 0) {
      this.#heldBytes -= this.#chunks[index]?.length ?? 0;
      this.#chunks[index] = GONE;
      index += 1;
    }
    this.#first = this.#base + index;
    if (index < COMPACT_MIN || index * 2 < this.#chunks.length) return;
    this.#chunks.splice(0, index);
    this.#readers.splice(0, index);
    this.#base = this.#first;
  }
}
