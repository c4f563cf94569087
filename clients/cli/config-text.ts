import type { DescribedConfig } from '../../runtime/config/index.ts';
import type { DescribedPromises } from '../../runtime/host/promises.ts';
import { table } from './table.ts';

/** The effective configuration for people, one setting a line; with `origins` also where each value comes from. */
export function configText(described: DescribedConfig, { origins }: { origins: boolean }): string {
  const rows = described.settings.map(({ path, value, origin }) =>
    origins ? [path, JSON.stringify(value), origin] : [path, JSON.stringify(value)],
  );
  const file = described.file === '' ? 'no file' : described.file;
  return `# ${file}\n${table(origins ? [['# setting', 'value', 'from'], ...rows] : rows)}`;
}

/** What semantic matching can be relied on for, as comments below the settings. */
export function promisesText({ embedder, calibration, promises }: DescribedPromises): string {
  const lines = [`embedder ${embedder}`, calibration, ...promises.map(({ text }) => text)];
  return `\n# semantic matching\n${lines.map((line) => `# ${line}\n`).join('')}`;
}
