import type { FieldChecks } from './trace-reader.ts';

const DECODER = new TextDecoder('utf-8', { fatal: true });
const POSITION = /position (\d+)/u;

/** The JSON object of one line; undefined where the line is empty. */
export function objectOf(
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
  checks: FieldChecks,
): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    const text = DECODER.decode(bytes.subarray(start, end));
    if (text.trim() === '') return undefined;
    value = JSON.parse(text);
  } catch (error) {
    const position = error instanceof Error ? POSITION.exec(error.message)?.[1] : undefined;
    const column = String(position === undefined ? end - start + 1 : Number(position) + 1);
    checks.fail(`${column} (character)`, 'the line is not JSON', error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    checks.fail('1', 'the line is not an object');
  return value as Readonly<Record<string, unknown>>;
}
