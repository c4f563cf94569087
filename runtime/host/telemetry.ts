import { pino, type Logger } from 'pino';
import * as prometheus from 'prom-client';
import type { RequestRecord } from '../../clients/gateway/index.ts';
import { METRICS, type MetricDefinition, type MetricName } from '../ports/metrics.ts';
import type { Counter, Gauge, Histogram, LogFields, LogLevel, Telemetry } from '../ports/telemetry.ts';
import { MetricTable } from './metric-table.ts';
import { RequestLog } from './request-log.ts';

export interface HostTelemetryOptions {
  readonly logLevel: LogLevel | 'silent';
  /** Where log lines go; standard output when absent. */
  readonly logger?: Logger;
}

/** Lines leave when there are this many bytes of them, or after this time. */
const LOG_BATCH_BYTES = 8_192;
const LOG_FLUSH_MS = 1_000;

/** Metrics for Prometheus and logs by pino. Children are made once per label set and then cost one addition. */
export class HostTelemetry implements Telemetry {
  /** What the process itself has to tell. */
  readonly #registry = new prometheus.Registry();
  readonly #tables: Readonly<Record<MetricName, MetricTable>>;
  readonly #logger: Logger;
  readonly #requestLog: RequestLog | undefined;
  readonly #logsRequests: boolean;
  readonly #onScrape: (() => void)[] = [];

  constructor(options: HostTelemetryOptions) {
    if (options.logger === undefined) {
      const { logger, requestLog } = createLoggers(options.logLevel);
      this.#logger = logger;
      this.#requestLog = requestLog;
    } else {
      this.#logger = options.logger;
    }
    this.#logsRequests = this.#logger.isLevelEnabled('info');
    const definitions = Object.entries<MetricDefinition>(METRICS);
    this.#tables = Object.fromEntries(
      definitions.map(([name, definition]) => [name, new MetricTable(name, definition)]),
    ) as Record<MetricName, MetricTable>;
    prometheus.collectDefaultMetrics({ register: this.#registry });
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
    const tables = Object.values(this.#tables).map((table) => table.text());
    return `${tables.join('\n\n')}\n\n${await this.#registry.metrics()}`;
  }

  counter(name: MetricName, ...labels: readonly string[]): Counter {
    return this.#tables[name].child(labels);
  }

  gauge(name: MetricName, ...labels: readonly string[]): Gauge {
    return this.#tables[name].child(labels);
  }

  histogram(name: MetricName, ...labels: readonly string[]): Histogram {
    return this.#tables[name].child(labels);
  }

  log(level: LogLevel, event: string, fields?: LogFields): void {
    this.#requestLog?.flush();
    this.#logger[level](fields ?? {}, event);
  }

  /** The log line of a finished request. */
  request(record: RequestRecord): void {
    if (!this.#logsRequests) return;
    if (this.#requestLog === undefined) this.#logger.info(record, 'request');
    else this.#requestLog.add(record);
  }

  /** A failure that is no coded error: a bug. Its name and frames are logged, not its message, which may quote a prompt. */
  failure(event: string, error: unknown, fields: LogFields = {}): void {
    const isError = error instanceof Error;
    const frames = isError ? (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')) : [];
    this.#requestLog?.flush();
    this.#logger.error({ ...fields, name: isError ? error.name : typeof error, frames }, event);
  }

  /** Writes out what is buffered. */
  flush(): void {
    this.#requestLog?.flush();
    this.#logger.flush();
  }
}

/** JSON lines on standard output, written in batches off the request path. */
function createLoggers(level: string): { logger: Logger; requestLog: RequestLog } {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: LOG_BATCH_BYTES,
    periodicFlush: LOG_FLUSH_MS,
  });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return { logger, requestLog: new RequestLog(destination) };
}
