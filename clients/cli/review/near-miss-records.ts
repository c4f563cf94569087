import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** A near miss as the log has it. */
export interface NearMissRecord {
  readonly at: string;
  readonly tenant: string;
  readonly domain: string;
  readonly entryId: string;
  /** Stored and asked text. */
  readonly a: string;
  readonly b: string;
  readonly similarity: number;
  readonly similarityMin: number;
  readonly probability: number;
  readonly probabilityMin: number;
  readonly vetoes: readonly string[];
  readonly reason: string;
}

/** What a log holds, oldest first, each pair once. */
export interface NearMissLogContent {
  readonly records: readonly NearMissRecord[];
  /** Lines that are no record: torn by a crash, or of another version. */
  readonly unreadable: number;
  readonly files: number;
}

const FILES_MAX = 100;

/** Reads a log with the files that were put aside before it. */
export async function readNearMisses(path: string): Promise<NearMissLogContent> {
  const paths = [path];
  for (let number = 1; number < FILES_MAX && existsSync(`${path}.${number}`); number += 1)
    paths.push(`${path}.${number}`);
  const records = new Map<string, NearMissRecord>();
  let unreadable = 0;
  let files = 0;
  for (const file of paths.reverse()) {
    if (!existsSync(file)) continue;
    files += 1;
    for (const line of (await readFile(file, 'utf8')).split('\n')) {
      if (line === '') continue;
      const record = recordOf(line);
      if (record === undefined) unreadable += 1;
      else records.set(JSON.stringify([record.tenant, record.a, record.b]), record);
    }
  }
  return { records: [...records.values()], unreadable, files };
}

const TEXTS = ['at', 'tenant', 'domain', 'entryId', 'a', 'b', 'reason'] as const;
const NUMBERS = ['similarity', 'similarityMin', 'probability', 'probabilityMin'] as const;

function recordOf(line: string): NearMissRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const record = value as Record<string, unknown>;
  const { vetoes } = record;
  const isWhole =
    record['version'] === 1 &&
    TEXTS.every((name) => typeof record[name] === 'string') &&
    NUMBERS.every((name) => typeof record[name] === 'number') &&
    Array.isArray(vetoes) &&
    vetoes.every((veto) => typeof veto === 'string');
  return isWhole ? (value as NearMissRecord) : undefined;
}
