import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A pair that a person has judged. */
export interface ReviewedPair {
  readonly domain: string;
  /** True: the answer to `a` serves `b`. */
  readonly same: boolean;
  readonly a: string;
  readonly b: string;
}

const HEADER = 'id\tdomain\tcategory\tsame\ta\tb\n';
const CATEGORY = 'reviewed';
const COLUMNS = 6;
const OWNER_ONLY = 0o600;

/** The pairs file of reviews: tab-separated, without quoting, as `reprise calibrate --pairs` reads it. */
export class PairsFile {
  readonly #path: string;
  readonly #known: Set<string>;
  #size: number;

  private constructor(path: string, known: Set<string>, size: number) {
    this.#path = path;
    this.#known = known;
    this.#size = size;
  }

  static async open(path: string): Promise<PairsFile> {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
      throw error;
    });
    const rows = text.split('\n').map((line) => line.split('\t'));
    const known = rows
      .filter((cells) => cells.length === COLUMNS)
      .map((cells) => keyOf(cells[4] ?? '', cells[5] ?? ''));
    return new PairsFile(path, new Set(known), Math.max(0, known.length - 1));
  }

  has(a: string, b: string): boolean {
    return this.#known.has(keyOf(cell(a), cell(b)));
  }

  async add({ domain, same, a, b }: ReviewedPair): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    const isNew = await stat(this.#path).then(
      ({ size }) => size === 0,
      () => true,
    );
    this.#size += 1;
    const id = `review-${String(this.#size).padStart(6, '0')}`;
    const row = [id, cell(domain), CATEGORY, same ? '1' : '0', cell(a), cell(b)].join('\t');
    await appendFile(this.#path, `${isNew ? HEADER : ''}${row}\n`, { mode: OWNER_ONLY });
    this.#known.add(keyOf(cell(a), cell(b)));
  }
}

/** The format knows no escapes: what would end a cell becomes a space. */
function cell(text: string): string {
  return text.replace(/[\t\r\n\u2028\u2029]+/gu, ' ');
}

function keyOf(a: string, b: string): string {
  return `${a}\t${b}`;
}
