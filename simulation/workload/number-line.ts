const ZERO = 48;
const NINE = 57;
const SPACE = 32;
const TAB = 9;
const TEN = 10;

/** Where the numbers of a line can't be read. */
export interface NotNumbers {
  /** Column from 1. */
  readonly column: number;
  readonly text: string;
  /** What is wrong with it, as the end of a sentence. */
  readonly problem: string;
}

/**
 * Reads a line of whole numbers with blanks between them into `into`; gives how many there are (at most one more than `into`
 * has room for), or the column that is none. Reading bytes spares a string a line.
 */
export function readNumbers(bytes: Uint8Array, start: number, end: number, into: Float64Array): number | NotNumbers {
  let count = 0;
  let at = start;
  for (;;) {
    while (at < end && isBlank(bytes[at]!)) at += 1;
    if (at === end) return count;
    if (count === into.length) return count + 1;
    const from = at;
    let value = 0;
    while (at < end && bytes[at]! >= ZERO && bytes[at]! <= NINE) {
      value = value * TEN + (bytes[at]! - ZERO);
      at += 1;
    }
    if (at === from || (at < end && !isBlank(bytes[at]!)) || value > Number.MAX_SAFE_INTEGER) {
      const isNumber = at > from && (at === end || isBlank(bytes[at]!));
      const problem = isNumber ? `is too large (${Number.MAX_SAFE_INTEGER} at most)` : 'is not a whole number';
      return { column: count + 1, text: wordAt(bytes, from, end), problem };
    }
    into[count] = value;
    count += 1;
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

function wordAt(bytes: Uint8Array, start: number, end: number): string {
  let last = start;
  while (last < end && !isBlank(bytes[last]!)) last += 1;
  return new TextDecoder().decode(bytes.subarray(start, last));
}
