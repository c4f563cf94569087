import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { settingsJsonSchema } from '../../runtime/config/schema.ts';
import { errorMeanings, errorsTable, metricsTable, settingsTable, variablesTable } from './tables.ts';

/** Folder of the docs, with a slash at its end. */
export const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

/** Names of the files below docs/ that are generated, wholly or between markers. */
export const GENERATED = ['reprise.schema.json', 'configuration.md', 'errors.md', 'metrics.md'];

/** A file of docs/, as it is. */
export function readDoc(name: string): string {
  return readFileSync(`${DOCS}${name}`, 'utf8');
}

/** `text` with what lies between the markers of `part` replaced. */
function withPart(text: string, part: string, content: string): string {
  const begin = `<!-- begin ${part} -->`;
  const end = `<!-- end ${part} -->`;
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The markers of ${part} are missing.`);
  return `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`;
}

/** A generated file of docs/ as it should be, given what its hand-written part says now. */
export async function generateDoc(name: string): Promise<string> {
  const path = `${DOCS}${name}`;
  const style = { ...(await resolveConfig(path)), filepath: path };
  if (name === 'reprise.schema.json') return await format(JSON.stringify(settingsJsonSchema()), style);
  let text = readDoc(name);
  if (name === 'configuration.md') {
    text = withPart(withPart(text, 'settings', settingsTable()), 'variables', variablesTable());
  } else if (name === 'errors.md') {
    text = withPart(text, 'errors', errorsTable(errorMeanings(text)));
  } else {
    text = withPart(text, 'metrics', metricsTable());
  }
  return await format(text, style);
}
