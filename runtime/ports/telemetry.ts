import type { MetricName } from './metrics.ts';

/** A bound counter or gauge child; callers keep it, so that counting costs one addition. */
export interface Counter {
  add(amount?: number): void;
}

export interface Gauge {
  set(value: number): void;
}

export interface Histogram {
  /** In the unit that the metric's name ends with. */
  observe(value: number): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Metrics and logs. Never given a prompt, an answer or a credential (invariant I12). Label values come from bounded sets. */
export interface Telemetry {
  /** `labels` in the order in which `METRICS` declares them. The same arguments give the same child. */
  counter(name: MetricName, ...labels: readonly string[]): Counter;
  gauge(name: MetricName, ...labels: readonly string[]): Gauge;
  histogram(name: MetricName, ...labels: readonly string[]): Histogram;
  log(level: LogLevel, event: string, fields?: LogFields): void;
}
