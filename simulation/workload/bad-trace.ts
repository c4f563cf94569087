import { RepriseError } from '../../runtime/errors.ts';

/** Where a trace is wrong: `unit` is what the format counts in, from 1. */
export interface TracePlace {
  readonly unit: 'line' | 'record';
  readonly number: number;
  /** Number of the column from 1, its name, or both. */
  readonly column?: string;
}

/** The error for a trace that is wrong: names file, line or record, and column. */
export function badTrace(file: string, place: TracePlace | undefined, problem: string, cause?: unknown): RepriseError {
  const at = place === undefined ? '' : `, ${place.unit} ${place.number}`;
  const column = place?.column === undefined ? '' : `, column ${place.column}`;
  return new RepriseError('data_invalid', `${file}${at}${column}: ${problem}`, { cause });
}

const QUOTED_MAX = 40;

/** A field as an error quotes it: short, and on one line. */
export function quoted(text: string): string {
  const short = text.length <= QUOTED_MAX ? text : `${text.slice(0, QUOTED_MAX)}…`;
  return JSON.stringify(short);
}
