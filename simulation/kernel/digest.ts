const PRIME_LOW = 0x1b3;
const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
const TWO_32 = 2 ** 32;

/**
 * An order-sensitive fingerprint of what was written to it: FNV-1a, 64 bits in two lanes (parameters as published by Fowler,
 * Noll and Vo). Each value is written with its length or at a fixed width, so that no two sequences of writes run together.
 */
export class Digest {
  #high = OFFSET_HIGH;
  #low = OFFSET_LOW;
  readonly #number = new DataView(new ArrayBuffer(8));

  text(value: string): void {
    this.number(value.length);
    for (let index = 0; index < value.length; index++) {
      const unit = value.charCodeAt(index);
      this.#byte(unit & 0xff);
      this.#byte(unit >>> 8);
    }
  }

  /** A double, by its bits. */
  number(value: number): void {
    this.#number.setFloat64(0, value);
    for (let index = 0; index < 8; index++) this.#byte(this.#number.getUint8(index));
  }

  bytes(value: Uint8Array): void {
    this.number(value.length);
    for (const byte of value) this.#byte(byte);
  }

  /** The fingerprint so far, 16 hex characters. */
  hex(): string {
    return this.#high.toString(16).padStart(8, '0') + this.#low.toString(16).padStart(8, '0');
  }

  /** The fingerprint so far as two integers in [0, 2^32). */
  lanes(): readonly [number, number] {
    return [this.#high, this.#low];
  }

  /** One step: xor, then multiply by 2^40 + 0x1b3 modulo 2^64. Every product stays below 2^53. */
  #byte(byte: number): void {
    const low = (this.#low ^ byte) >>> 0;
    const product = low * PRIME_LOW;
    const carry = Math.floor(product / TWO_32);
    this.#high = (this.#high * PRIME_LOW + carry + ((low << 8) >>> 0)) % TWO_32;
    this.#low = product % TWO_32;
  }
}
