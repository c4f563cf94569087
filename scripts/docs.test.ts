import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../runtime/config/index.ts';
import type { SettingsInput } from '../runtime/config/index.ts';
import { ERROR_KINDS } from '../runtime/errors.ts';
import { METRICS, type MetricDefinition } from '../runtime/ports/metrics.ts';
import { DOCS, GENERATED, generateDoc, readDoc } from './lib/generated-docs.ts';
import { errorMeanings } from './lib/tables.ts';

/** The cells of the table rows that begin with a name in code font. */
function rowsOf(markdown: string): Map<string, string[]> {
  const rows = markdown.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const name = /^`([^`]+)`$/.exec(cells[1] ?? '')?.[1];
    return name === undefined ? [] : [[name, cells.slice(2, -1)] as const];
  });
  return new Map(rows);
}

/** Series that Prometheus makes of our metrics. */
function seriesNames(): Set<string> {
  return new Set(
    Object.entries<MetricDefinition>(METRICS).flatMap(([name, { kind }]) =>
      kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

describe('generated docs', () => {
  it.each(GENERATED)('%s is as generated', async (name) => {
    expect(readDoc(name)).toBe(await generateDoc(name));
  });
});

describe('docs/errors.md', () => {
  it('has each code once, as it leaves by HTTP and gRPC', () => {
    const rows = rowsOf(readDoc('errors.md'));
    expect([...rows.keys()]).toEqual(Object.keys(ERROR_KINDS));
    for (const [code, { httpStatus, grpcStatus, type, retryable }] of Object.entries(ERROR_KINDS)) {
      expect(rows.get(code)?.slice(0, 4)).toEqual([
        String(httpStatus),
        grpcStatus,
        `\`${type}\``,
        retryable ? 'yes' : 'no',
      ]);
    }
  });

  it('says of each code what it means', () => {
    const meanings = errorMeanings(readDoc('errors.md'));
    expect(Object.keys(ERROR_KINDS).filter((code) => (meanings[code] ?? '').length < 10)).toEqual([]);
  });
});

describe('docs/metrics.md', () => {
  it('has each metric once, with its labels', () => {
    const rows = rowsOf(readDoc('metrics.md'));
    expect([...rows.keys()]).toEqual(Object.keys(METRICS));
    for (const [name, { kind, labels }] of Object.entries<MetricDefinition>(METRICS)) {
      expect(rows.get(name)?.slice(0, 2)).toEqual([kind, labels.map((label) => `\`${label}\``).join(', ')]);
    }
  });
});

describe('docs/grafana-dashboard.json', () => {
  const dashboard = JSON.parse(readFileSync(`${DOCS}grafana-dashboard.json`, 'utf8')) as {
    panels: { id: number; title: string; targets?: { expr: string }[] }[];
  };
  const expressions = dashboard.panels.flatMap((panel) => panel.targets?.map((target) => target.expr) ?? []);

  it('names only series that there are', () => {
    const used = JSON.stringify(dashboard).match(/\breprise_[a-z0-9_]+/g) ?? [];
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((name) => !seriesNames().has(name))).toEqual([]);
  });

  it('groups and selects by labels that the metrics have', () => {
    const wrong = expressions.filter((expression) => {
      const names = [...expression.matchAll(/\breprise_[a-z0-9_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
      const labels = names.flatMap((name) => (METRICS as Record<string, MetricDefinition>)[name]?.labels ?? []);
      const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
      const selected = [...expression.matchAll(/([a-z]+)=~?"/g)].map(([, label = '']) => label);
      return [...grouped, ...selected].some((label) => ![...labels, 'le', 'instance'].includes(label));
    });
    expect(wrong).toEqual([]);
  });

  it('has panels with ids of their own', () => {
    const ids = dashboard.panels.map((panel) => panel.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('docs/configuration.md', () => {
  const markdown = readFileSync(fileURLToPath(new URL('../docs/configuration.md', import.meta.url)), 'utf8');

  it('shows a file that Reprise accepts', () => {
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(markdown) ?? [];
    const overrides = parse(example) as SettingsInput;
    const config = loadConfig({ file: false, env: { OPENAI_API_KEY: 'k' }, overrides });
    expect(config.defaultUpstream).toBe('openai');
    expect(Object.keys(config.node.namespaces)).toContain('clinical');
  });
});
