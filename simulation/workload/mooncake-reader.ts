import type { TracePlace } from './bad-trace.ts';
import { BatchBuilder } from './batch-builder.ts';
import { objectOf } from './json-lines.ts';
import { KeyTable } from './key-table.ts';
import { Lines } from './lines.ts';
import { FieldChecks, type ReaderOptions, type TraceReader } from './trace-reader.ts';

/** Tokens of one prompt or answer that are taken for right. */
const TOKENS_MAX = 100_000_000;

/**
 * Mooncake's JSON Lines: `{timestamp (ms), input_length, output_length, hash_ids}`. Each block is a request, in the order of the
 * prompt; its parent is the block before it, its group the prompt.
 */
export class MooncakeReader implements TraceReader {
  readonly out = new BatchBuilder(['timesMs', 'groups', 'parents']);
  readonly #keys = new KeyTable();
  readonly #checks: FieldChecks;
  readonly #lines: Lines;
  #prompts = 0;

  constructor(options: ReaderOptions) {
    this.#checks = new FieldChecks(this, options);
    this.#lines = new Lines(this.#onLine, () => this.#checks.fail(undefined, 'the line is too long'));
  }

  get place(): TracePlace {
    return this.#lines.place;
  }

  push(chunk: Uint8Array): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
  }

  readonly #onLine = (bytes: Uint8Array, start: number, end: number): void => {
    const checks: FieldChecks = this.#checks;
    const line = objectOf(bytes, { start, end }, checks);
    if (line === undefined) return;
    const timeMs = checks.time('timestamp', checks.amount('timestamp', line['timestamp']));
    for (const column of ['input_length', 'output_length']) {
      if (line[column] !== undefined) checks.whole(column, line[column], { most: TOKENS_MAX });
    }
    const blocks = line['hash_ids'];
    if (!Array.isArray(blocks)) checks.fail('hash_ids', 'the line has no list of blocks');
    const group = this.#prompts;
    this.#prompts += 1;
    let parent = -1;
    for (const [at, block] of blocks.entries()) {
      const key = this.#keys.idOf(
        typeof block === 'number' && block >= 0 && Number.isSafeInteger(block) ? block : this.#bad(at, block),
      );
      this.out.add({ key, timeMs, group, parent });
      parent = key;
    }
  };

  #bad(at: number, block: unknown): never {
    this.#checks.whole(`hash_ids[${at}]`, block);
    this.#checks.fail(`hash_ids[${at}]`, 'the block is not a whole number');
  }
}
