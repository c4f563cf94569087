import type { CallOptions } from '../../ports/call-options.ts';
import type { Embedder, Embedding } from '../../ports/embedder.ts';
import type { MetricName } from '../../ports/metrics.ts';
import type { Counter, Gauge, Histogram, Telemetry } from '../../ports/telemetry.ts';

/** Counts what is counted and keeps what is logged. */
export class CountingTelemetry implements Telemetry {
  readonly counts = new Map<string, number>();
  readonly gauges = new Map<string, number>();
  readonly events: string[] = [];

  counter(name: MetricName, ...labels: readonly string[]): Counter {
    const id = [name, ...labels].join(' ');
    return { add: (amount = 1) => void this.counts.set(id, this.count(id) + amount) };
  }

  gauge(name: MetricName, ...labels: readonly string[]): Gauge {
    return { set: (value) => void this.gauges.set([name, ...labels].join(' '), value) };
  }

  histogram(): Histogram {
    return { observe: () => undefined };
  }

  log(_level: string, event: string): void {
    this.events.push(event);
  }

  count(id: string): number {
    return this.counts.get(id) ?? 0;
  }
}

/** A batch that reached the embedder and waits for the test to answer it. */
export interface HeldBatch {
  readonly texts: readonly string[];
  readonly options: CallOptions;
  answer(): void;
  fail(error: unknown): void;
}

/** An embedder whose vectors are listed, or else hashed from the text's characters; it answers at once unless `hold` is set. */
export class TableEmbedder implements Embedder {
  readonly id: string = 'table-1';
  readonly dimensions: number = 8;
  readonly windowTokens: number = 64;
  readonly table = new Map<string, readonly number[]>();
  readonly batches: (readonly string[])[] = [];
  readonly held: HeldBatch[] = [];
  hold = false;
  /** Made of every text when set. */
  constant: readonly number[] | undefined;

  embed(texts: readonly string[], options: CallOptions): Promise<readonly Embedding[]> {
    this.batches.push(texts);
    const embeddings = texts.map((text) => this.#embedding(text));
    if (!this.hold) return Promise.resolve(embeddings);
    return new Promise((resolve, reject) => {
      this.held.push({ texts, options, answer: () => resolve(embeddings), fail: reject });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #embedding(text: string): Embedding {
    const tokenCount = text.split(' ').length;
    const numbers = this.constant ?? this.table.get(text) ?? hashed(text, this.dimensions);
    const vector = Float32Array.from(numbers);
    const length = Math.hypot(...vector) || 1;
    return {
      vector: this.constant === undefined ? vector.map((value) => value / length) : vector,
      tokenCount,
      truncated: tokenCount > this.windowTokens,
    };
  }
}

function hashed(text: string, dimensions: number): readonly number[] {
  const numbers: number[] = [];
  let state = 2_166_136_261;
  for (let i = 0; i < dimensions; i += 1) {
    for (const char of text) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 16_777_619);
    state = Math.imul(state ^ (i + 1), 16_777_619);
    numbers.push((state >>> 0) / 2 ** 31 - 1);
  }
  return numbers;
}
