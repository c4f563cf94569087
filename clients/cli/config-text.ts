import type { DescribedConfig } from '../../runtime/config/index.ts';
import { table } from './table.ts';

/** The effective configuration for people, one setting a line; with `origins` also where each value comes from. */
export function configText(described: DescribedConfig, { origins }: { origins: boolean }): string {
  const rows = described.settings.map(({ path, value, origin }) =>
    origins ? [path, JSON.stringify(value), origin] : [path, JSON.stringify(value)],
  );
  const file = described.file === '' ? 'no file' : described.file;
  return `# ${file}\n${table(origins ? [['# setting', 'value', 'from'], ...rows] : rows)}`;
}
