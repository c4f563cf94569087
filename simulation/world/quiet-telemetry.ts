import type { MetricName } from '../../runtime/ports/metrics.ts';
import type { Counter, Gauge, Histogram, Telemetry } from '../../runtime/ports/telemetry.ts';

/** Telemetry that keeps counters to be read after a run, and drops all else. */
export class QuietTelemetry implements Telemetry {
  readonly #counts = new Map<string, number>();

  /** A counter's value; 0 when it was never touched. */
  count(name: MetricName, ...labels: readonly string[]): number {
    return this.#counts.get(idOf(name, labels)) ?? 0;
  }

  counter(name: MetricName, ...labels: readonly string[]): Counter {
    const id = idOf(name, labels);
    return { add: (amount = 1) => void this.#counts.set(id, (this.#counts.get(id) ?? 0) + amount) };
  }

  gauge(): Gauge {
    return { set: () => undefined };
  }

  histogram(): Histogram {
    return { observe: () => undefined };
  }

  log(): void {}
}

function idOf(name: string, labels: readonly string[]): string {
  return [name, ...labels].join('\n');
}
