import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clientSettings } from '../../runtime/config/index.ts';
import { openTrace, traceName } from './open-trace.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-trace-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function count(path: string): Promise<{ requests: number; keys: number; detected: string[] }> {
  const detected: string[] = [];
  const source = await openTrace(path, { format: 'auto', onDetected: (what) => detected.push(what) });
  let [requests, last] = [0, -1];
  for await (const batch of source.batches()) {
    requests += batch.count;
    for (const key of batch.keys.subarray(0, batch.count)) last = Math.max(last, key);
  }
  return { requests, keys: last + 1, detected };
}

async function failureOf(path: string): Promise<string> {
  return count(path).then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  );
}

const LINES = Array.from({ length: 200_000 }, (_, at) => `${(at * 7_919) % 10_007}\n`).join('');
/** A zstd frame of one raw block: magic, header (single segment, content size), block header, content. */
const zstdFrame = (text: string): Uint8Array =>
  Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, text.length, (text.length << 3) | 1, text.length >> 5, 0]),
    Buffer.from(text),
  ]);

describe('openTrace', () => {
  it('reads plain, gzip and zstd alike, told by content', async () => {
    for (const [name, bytes] of [
      ['a', LINES],
      ['b', gzipSync(LINES)],
    ] as const) {
      writeFileSync(join(folder, name), bytes);
      expect(await count(join(folder, name))).toMatchObject({ requests: 200_000, keys: 10_007 });
    }
    const path = join(folder, 'c');
    writeFileSync(path, Buffer.concat([zstdFrame('1\n2\n'), zstdFrame('1\n3\n')]));
    const { requests, keys, detected } = await count(path);
    expect({ requests, keys }).toEqual({ requests: 4, keys: 3 });
    expect(detected).toEqual([`${path}: lirs (lines of one number, zstd)`]);
  });

  it('says where a cut gzip ends', async () => {
    const path = join(folder, 'cut.gz');
    writeFileSync(path, gzipSync(LINES));
    truncateSync(path, Math.floor(statSync(path).size / 2));
    const told = await failureOf(path);
    expect(told).toMatch(
      /cut\.gz, line \d+, column \d+ \(byte\): the data can't be read on from here: unexpected end/u,
    );
    const line = Number(/line (\d+)/u.exec(told)?.[1]);
    expect(line).toBeGreaterThan(50_000);
    expect(line).toBeLessThan(150_000);
  });

  it('says where a cut zstd ends', async () => {
    const path = join(folder, 'cut.zst');
    writeFileSync(path, Buffer.concat([zstdFrame('1\n2\n'), zstdFrame('1\n3\n').subarray(0, 11)]));
    expect(await failureOf(path)).toMatch(/cut\.zst, line 3, column 1 \(byte\): the data can't be read on/u);
  });

  it('says what is wrong with files that are none', async () => {
    expect(await failureOf(join(folder, 'none'))).toBe(`${join(folder, 'none')}: there is no such file`);
    expect(await failureOf(folder)).toBe(`${folder}: it can't be read (EISDIR)`);
    for (const [name, bytes] of [
      ['empty', ''],
      ['empty.gz', gzipSync('')],
    ] as const) {
      writeFileSync(join(folder, name), bytes);
      expect(await failureOf(join(folder, name))).toContain('line 1, column 1: there is no request in it');
    }
    writeFileSync(join(folder, 'prose'), 'hello\nworld\n');
    expect(await failureOf(join(folder, 'prose'))).toContain('its format can not be told; name it');
    writeFileSync(join(folder, 'bad.gz'), Buffer.from([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
    expect(await failureOf(join(folder, 'bad.gz'))).toMatch(/line 1, column 1: the data can't be read: /u);
  });

  it('names traces without folders and ends', () => {
    expect(traceName('/a/OLTP.lis.gz')).toBe('OLTP');
    expect(traceName('cloudPhysicsIO.oracleGeneral.bin')).toBe('cloudPhysicsIO');
    expect(traceName('mooncake-conversation.jsonl.zst')).toBe('mooncake-conversation');
    expect(traceName('.trace')).toBe('.trace');
  });

  it('makes up what a spec describes', async () => {
    expect(await count('scan:n=5,requests=12')).toMatchObject({ requests: 12, keys: 5 });
  });
});

const DATA = resolve(clientSettings().testData ?? join(import.meta.dirname, '../../../shared/data'), 'traces');
const TRACES: readonly [file: string, requests: number, keys: number][] = [
  ['OLTP.lis.gz', 914_145, 186_880],
  ['gli.trace.gz', 6_015, 2_529],
  ['loop.trace.gz', 505_500, 1_011],
  ['zigzag.trace.gz', 52_001, 2_001],
  ['multi1.trace.gz', 15_858, 2_606],
  ['corda-small.trace.gz', 135_702, 90_468],
  ['mooncake-conversation.jsonl.gz', 288_500, 182_790],
  ['cloudPhysicsIO.oracleGeneral.bin', 113_872, 48_974],
  ['azure-conv-2023.csv.gz', 19_366, 19_366],
];

const absent = TRACES.filter(([file]) => !existsSync(join(DATA, file))).map(([file]) => file);
if (absent.length > 0) {
  console.log(`Left out: published traces that aren't in ${DATA} (REPRISE_TEST_DATA): ${absent.join(', ')}.`);
}
const ZSTD_TRACE = 'gli.trace.gz';
const zstdCause = absent.includes(ZSTD_TRACE) ? `${ZSTD_TRACE} is missing` : hasZstd() ? '' : 'there is no zstd tool';
if (zstdCause !== '') console.log(`Left out: zstd as the reference tool writes it; ${zstdCause}.`);

describe('published traces', () => {
  it.each(TRACES.filter(([file]) => !absent.includes(file)))(
    '%s has the requests and keys that are published',
    async (file, requests, keys) => {
      expect(await count(join(DATA, file))).toMatchObject({ requests, keys });
    },
  );

  it.runIf(zstdCause === '')('zstd as the reference tool writes it', async () => {
    const path = join(DATA, ZSTD_TRACE);
    const packed = join(folder, 'gli.trace.zst');
    const plain = execFileSync('gzip', ['-dc', path]);
    writeFileSync(packed, execFileSync('zstd', ['-q', '-19', '-c'], { input: plain }));
    expect(await count(packed)).toMatchObject({ requests: 6_015, keys: 2_529 });
  });
});

function hasZstd(): boolean {
  try {
    execFileSync('zstd', ['--version']);
    return true;
  } catch {
    return false;
  }
}
