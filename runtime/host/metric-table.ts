import type { MetricDefinition } from '../ports/metrics.ts';
import type { Counter, Gauge, Histogram } from '../ports/telemetry.ts';

/** Label sets kept per metric; what comes past it is counted under `other`. */
const LABEL_SETS_MAX = 1_000;
const OTHER = 'other';

/** One metric with its label sets: counting costs an addition, all other work is left to the scrape. */
export class MetricTable {
  readonly #name: string;
  readonly #definition: MetricDefinition;
  readonly #root: LabelNode = { child: undefined, next: new Map() };
  readonly #children: Child[] = [];

  constructor(name: string, definition: MetricDefinition) {
    this.#name = name;
    this.#definition = definition;
    // A metric without labels is there from the start, at 0.
    if (definition.labels.length === 0) this.child([]).add(0);
  }

  /** The child of a label set; the same one for the same labels. */
  child(labels: readonly string[]): Child {
    let node = this.#root;
    for (const label of labels) {
      const known = node.next.get(label);
      if (known === undefined) return this.#add(labels);
      node = known;
    }
    return node.child ?? this.#add(labels);
  }

  #add(labels: readonly string[]): Child {
    const isFull = this.#children.length >= LABEL_SETS_MAX;
    const kept = isFull ? labels.map(() => OTHER) : labels;
    let node = this.#root;
    for (const label of kept) {
      let next = node.next.get(label);
      if (next === undefined) node.next.set(label, (next = { child: undefined, next: new Map() }));
      node = next;
    }
    if (node.child === undefined) {
      node.child = new Child(this.#labelText(kept), this.#definition.buckets ?? []);
      this.#children.push(node.child);
    }
    return node.child;
  }

  #labelText(labels: readonly string[]): string {
    return this.#definition.labels.map((name, at) => `${name}="${escaped(labels[at] ?? '')}"`).join(',');
  }

  /** The metric in Prometheus' text format, without a line feed at its end. */
  text(): string {
    const { help, kind } = this.#definition;
    const lines = [`# HELP ${this.#name} ${escapedHelp(help)}`, `# TYPE ${this.#name} ${kind}`];
    for (const child of this.#children) child.write(this.#name, kind, lines);
    return lines.join('\n');
  }
}

interface LabelNode {
  child: Child | undefined;
  readonly next: Map<string, LabelNode>;
}

/** The numbers of one label set. */
class Child implements Counter, Gauge, Histogram {
  readonly #labels: string;
  readonly #bounds: readonly number[];
  /** Per bucket, not summed up; the last one is for what is above every bound. */
  readonly #counts: Float64Array;
  #value = 0;
  #isTold = false;

  constructor(labels: string, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  add(amount = 1): void {
    this.#value += amount;
    this.#isTold = true;
  }

  set(value: number): void {
    this.#value = value;
    this.#isTold = true;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#value += value;
    this.#isTold = true;
  }

  /** Adds the child's lines; none before its first number. */
  write(name: string, kind: MetricDefinition['kind'], lines: string[]): void {
    if (!this.#isTold) return;
    const labels = this.#labels === '' ? '' : `{${this.#labels}}`;
    if (kind !== 'histogram') {
      lines.push(`${name}${labels} ${numberText(this.#value)}`);
      return;
    }
    const before = this.#labels === '' ? '' : `${this.#labels},`;
    let count = 0;
    for (const [at, inBucket] of this.#counts.entries()) {
      count += inBucket;
      const bound = at < this.#bounds.length ? String(this.#bounds[at]) : '+Inf';
      lines.push(`${name}_bucket{${before}le="${bound}"} ${count}`);
    }
    lines.push(`${name}_sum${labels} ${numberText(this.#value)}`, `${name}_count${labels} ${count}`);
  }
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escaped(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}
