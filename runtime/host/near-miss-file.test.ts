import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NearMiss } from '../ports/near-miss-log.ts';
import { CountingTelemetry } from '../semantic/testing/doubles.ts';
import { NearMissFile } from './near-miss-file.ts';

let folder: string;
let path: string;
let telemetry: CountingTelemetry;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-near-miss-'));
  path = join(folder, 'logs', 'near-misses.jsonl');
  telemetry = new CountingTelemetry();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const miss = (b: string): NearMiss => ({
  atMs: 0,
  tenant: 't',
  namespace: 'n',
  domain: 'd',
  entryId: 'k',
  a: 'stored',
  b,
  similarity: 0.9,
  similarityMin: 0.91,
  probability: 0.5,
  probabilityMin: 0.6,
  vetoes: ['numbers'],
  reason: 'vetoed',
});
const open = (changes: object = {}) =>
  new NearMissFile({ path, bytesMax: 1_000_000, filesMax: 3, ...changes }, telemetry);
const asked = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { b: string }).b);

describe('NearMissFile', () => {
  it('writes one line of JSON a miss, in a file for its owner only', async () => {
    const log = open();
    for (const b of ['one', 'two\n"lines"']) expect(log.write(miss(b))).toBe(true);
    await log.close();
    expect(asked(path)).toEqual(['one', 'two\n"lines"']);
    expect(JSON.parse(readFileSync(path, 'utf8').split('\n')[0] ?? '')).toMatchObject({
      version: 1,
      at: '1970-01-01T00:00:00.000Z',
      similarity: 0.9,
      vetoes: ['numbers'],
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('goes on where it ended', async () => {
    for (const b of ['one', 'two']) {
      const log = open();
      log.write(miss(b));
      await log.close();
    }
    expect(asked(path)).toEqual(['one', 'two']);
  });

  it('puts a full file aside and keeps so many', async () => {
    const log = open({ bytesMax: 500, filesMax: 3 });
    for (let at = 0; at < 40; at += 1) log.write(miss(`text ${at}`));
    await log.close();
    const names = readdirSync(join(folder, 'logs')).sort();
    expect(names).toEqual(['near-misses.jsonl', 'near-misses.jsonl.1', 'near-misses.jsonl.2']);
    for (const name of names) expect(statSync(join(folder, 'logs', name)).size).toBeLessThanOrEqual(500);
    expect(asked(path).at(-1)).toBe('text 39');
    const kept = [`${path}.2`, `${path}.1`, path].flatMap(asked);
    expect(kept).toEqual(kept.map((_, at) => `text ${40 - kept.length + at}`));
  });

  it('drops what the disk has no time for', async () => {
    const log = open();
    const taken = Array.from({ length: 5_000 }, (_, at) => log.write(miss(`text ${at}`)));
    expect(taken.filter(Boolean).length).toBeLessThanOrEqual(2_048);
    expect(taken.at(-1)).toBe(false);
    await log.close();
    expect(asked(path)).toHaveLength(taken.filter(Boolean).length);
  });

  it('fails nobody where it cannot write, and warns once', async () => {
    writeFileSync(join(folder, 'logs'), 'a file where a folder ought to be');
    const log = open();
    for (let at = 0; at < 3; at += 1) {
      log.write(miss('x'));
      await log.close();
    }
    expect(existsSync(path)).toBe(false);
    expect(telemetry.events).toEqual(['near-miss log not written']);
    expect(telemetry.count('reprise_semantic_near_misses_total lost')).toBe(3);
  });
});
