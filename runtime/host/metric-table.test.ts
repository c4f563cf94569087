import fc from 'fast-check';
import * as prometheus from 'prom-client';
import { describe, expect, it } from 'vitest';
import { MetricTable } from './metric-table.ts';

const COUNTER = { kind: 'counter', help: 'Counts.', labels: ['kind', 'code'] } as const;
const SECONDS = { kind: 'histogram', help: 'Seconds.', labels: ['call'], buckets: [0.1, 1, 10] } as const;

/** The lines that are samples, their labels in the order of names. */
function samples(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) =>
    line.replace(/\{(.*)\}/, (_all, inner: string) => `{${inner.split(',').sort().join(',')}}`),
  );
}

describe('MetricTable', () => {
  it('gives the same child for the same labels', () => {
    const table = new MetricTable('a_total', COUNTER);
    expect(table.child(['x', 'y'])).toBe(table.child(['x', 'y']));
    expect(table.child(['x', 'y'])).not.toBe(table.child(['y', 'x']));
  });

  it('tells of a label set from its first number on', () => {
    const table = new MetricTable('a_total', COUNTER);
    table.child(['quiet', '1']);
    table.child(['loud', '1']).add(2);
    table.child(['loud', '1']).add();
    expect(table.text()).toBe('# HELP a_total Counts.\n# TYPE a_total counter\na_total{kind="loud",code="1"} 3');
  });

  it('tells of a metric without labels from the start', () => {
    expect(new MetricTable('up', { kind: 'gauge', help: 'Up.', labels: [] }).text()).toContain('\nup 0');
  });

  it('keeps the last value of a gauge', () => {
    const table = new MetricTable('up', { kind: 'gauge', help: 'Up.', labels: [] });
    table.child([]).set(3);
    table.child([]).set(Infinity);
    expect(samples(table.text())).toEqual(['up +Inf']);
  });

  it('escapes labels and help', () => {
    const table = new MetricTable('a_total', { kind: 'counter', help: 'One\nand \\.', labels: ['name'] });
    table.child(['"a"\n\\']).add();
    expect(table.text()).toBe(
      '# HELP a_total One\\nand \\\\.\n# TYPE a_total counter\na_total{name="\\"a\\"\\n\\\\"} 1',
    );
  });

  it('counts label sets past its bound under other', () => {
    const table = new MetricTable('a_total', COUNTER);
    for (let index = 0; index < 1_500; index += 1) table.child([String(index), '']).add();
    const lines = samples(table.text());
    expect(lines.length).toBe(1_001);
    expect(lines).toContain('a_total{code="other",kind="other"} 500');
  });

  it('fills the buckets that the Prometheus client would', () => {
    const value = fc.oneof(fc.double({ min: 0, max: 20, noNaN: true }), fc.constantFrom(0.1, 1, 10));
    return fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('get', 'set'), value), { minLength: 1 }), async (seen) => {
        const registers = [new prometheus.Registry()];
        const reference = new prometheus.Histogram({
          name: 'call_seconds',
          help: SECONDS.help,
          labelNames: ['call'],
          buckets: [...SECONDS.buckets],
          registers,
        });
        const table = new MetricTable('call_seconds', SECONDS);
        for (const [call, seconds] of seen) {
          reference.labels(call).observe(seconds);
          table.child([call]).observe(seconds);
        }
        const expected = await registers[0]?.metrics();
        expect(samples(table.text()).sort()).toEqual(samples(expected ?? '').sort());
      }),
    );
  });
});
