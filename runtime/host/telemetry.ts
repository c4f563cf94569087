import { pino, type Logger } from 'pino';
import * as prometheus from 'prom-client';
import { METRICS, type MetricDefinition, type MetricName } from '../ports/metrics.ts';
import type { Counter, Gauge, Histogram, LogFields, LogLevel, Telemetry } from '../ports/telemetry.ts';

type Metric = prometheus.Counter | prometheus.Gauge | prometheus.Histogram;

/** Label sets kept per metric; what comes past it is counted under `other`. */
const LABEL_SETS_MAX = 1_000;

export interface HostTelemetryOptions {
  readonly logLevel: LogLevel | 'silent';
  /** Where log lines go; standard output when absent. */
  readonly logger?: Logger;
}

/** A logger with JSON lines on standard output, written in batches off the request path. */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 1, sync: false, minLength: 4_096 }),
  );
}

/** Metrics for Prometheus and logs by pino. Children are made once per label set and then cost one addition. */
export class HostTelemetry implements Telemetry {
  readonly #registry = new prometheus.Registry();
  readonly #metrics = new Map<MetricName, Metric>();
  readonly #children = new Map<string, unknown>();
  readonly #childCounts = new Map<MetricName, number>();
  readonly #logger: Logger;
  readonly #onScrape: (() => void)[] = [];

  constructor(options: HostTelemetryOptions) {
    this.#logger = options.logger ?? createLogger(options.logLevel);
    for (const [name, definition] of Object.entries(METRICS) as [MetricName, MetricDefinition][]) {
      this.#metrics.set(name, this.#create(name, definition));
    }
    prometheus.collectDefaultMetrics({ register: this.#registry });
  }

  get logger(): Logger {
    return this.#logger;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Runs before each scrape: the place to set gauges. */
  onScrape(sample: () => void): void {
    this.#onScrape.push(sample);
  }

  async text(): Promise<string> {
    for (const sample of this.#onScrape) sample();
    return this.#registry.metrics();
  }

  counter(name: MetricName, ...labels: readonly string[]): Counter {
    return this.#child(name, labels, (values) => {
      const child = (this.#metrics.get(name) as prometheus.Counter).labels(...values);
      return { add: (amount = 1) => child.inc(amount) };
    });
  }

  gauge(name: MetricName, ...labels: readonly string[]): Gauge {
    return this.#child(name, labels, (values) => {
      const child = (this.#metrics.get(name) as prometheus.Gauge).labels(...values);
      return { set: (value) => child.set(value) };
    });
  }

  histogram(name: MetricName, ...labels: readonly string[]): Histogram {
    return this.#child(name, labels, (values) => {
      const child = (this.#metrics.get(name) as prometheus.Histogram).labels(...values);
      return { observe: (value) => child.observe(value) };
    });
  }

  log(level: LogLevel, event: string, fields?: LogFields): void {
    this.#logger[level](fields ?? {}, event);
  }

  /** A failure that is no coded error: a bug. Its name and frames are logged, not its message, which may quote a prompt. */
  failure(event: string, error: unknown, fields: LogFields = {}): void {
    const isError = error instanceof Error;
    const frames = isError ? (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')) : [];
    this.#logger.error({ ...fields, name: isError ? error.name : typeof error, frames }, event);
  }

  /** Writes out what is buffered. */
  flush(): void {
    this.#logger.flush();
  }

  #child<T>(name: MetricName, labels: readonly string[], create: (values: string[]) => T): T {
    let id: string = name;
    for (const label of labels) id += `\n${label}`;
    const known = this.#children.get(id);
    if (known !== undefined) return known as T;
    const count = this.#childCounts.get(name) ?? 0;
    if (count >= LABEL_SETS_MAX) return create(labels.map(() => 'other'));
    this.#childCounts.set(name, count + 1);
    const child = create([...labels]);
    this.#children.set(id, child);
    return child;
  }

  #create(name: MetricName, definition: MetricDefinition): Metric {
    const base = { name, help: definition.help, labelNames: [...definition.labels], registers: [this.#registry] };
    if (definition.kind === 'counter') return new prometheus.Counter(base);
    if (definition.kind === 'gauge') return new prometheus.Gauge(base);
    return new prometheus.Histogram({ ...base, buckets: [...(definition.buckets ?? [])] });
  }
}
