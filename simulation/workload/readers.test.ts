import { describe, expect, it } from 'vitest';
import { hasCode } from '../../runtime/errors.ts';
import type { CsvColumns } from './csv-reader.ts';
import { makeReader } from './make-reader.ts';
import { BATCH_REQUESTS, type TraceBatch, type TraceFormat } from './trace.ts';
import { traceFromBytes } from './trace-reader.ts';

interface Reading {
  readonly format: TraceFormat;
  readonly columns?: CsvColumns;
  /** Bytes a chunk: a reader must not mind where chunks end. */
  readonly chunkBytes?: number;
}

const FILE = 'some.trace';

function source(data: string | Uint8Array, { format, columns, chunkBytes = 1 << 20 }: Reading) {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return traceFromBytes(
    { name: FILE, file: FILE },
    {
      // eslint-disable-next-line typescript/require-await
      async *bytes() {
        for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
      },
      makeReader: () => makeReader(format, { file: FILE, itemBytesMax: 1_000_000 }, columns),
    },
  );
}

type Column = Exclude<keyof TraceBatch, 'count'>;

async function read(data: string | Uint8Array, reading: Reading): Promise<Partial<Record<Column, number[]>>> {
  const columns: Partial<Record<Column, number[]>> = {};
  for await (const batch of source(data, reading).batches()) {
    expect(batch.count).toBeGreaterThan(0);
    for (const name of ['keys', 'sizes', 'timesMs', 'costs', 'groups', 'parents'] as const) {
      const column = batch[name];
      if (column !== undefined) (columns[name] ??= []).push(...column.subarray(0, batch.count));
    }
  }
  return columns;
}

async function failure(data: string | Uint8Array, reading: Reading): Promise<string> {
  const error: unknown = await read(data, reading).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(hasCode(error, 'data_invalid')).toBe(true);
  return (error as Error).message;
}

function oracle(...records: readonly (readonly [time: number, id: bigint, size: number, next: bigint])[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(records.length * 24));
  records.forEach(([time, id, size, next], at) => {
    view.setUint32(at * 24, time, true);
    view.setBigUint64(at * 24 + 4, id, true);
    view.setUint32(at * 24 + 12, size, true);
    view.setBigInt64(at * 24 + 16, next, true);
  });
  return new Uint8Array(view.buffer);
}

const RECORD_HEADER =
  '{"schema":"reprise/record/v1","startedAt":"2026-01-01T00:00:00.000Z","embedder":"","hashed":true}\n';
const recorded = (line: object): string =>
  `${JSON.stringify({ tMs: 0, key: 'k', scope: 's', bytes: 10, modelMs: 5, outcome: 'miss', ...line })}\n`;
const MOONCAKE = (line: object): string =>
  `${JSON.stringify({ timestamp: 0, input_length: 10, output_length: 1, hash_ids: [1], ...line })}\n`;
const AZURE_HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens\r\n';

describe('trace readers', () => {
  it.each([1, 2, 3, 7, 1_000])('give keys dense ids, wherever chunks of %i bytes end', async (chunkBytes) => {
    expect(await read('7\n9\r\n*\n\n7\n8', { format: 'lirs', chunkBytes })).toEqual({ keys: [0, 1, 0, 2] });
    expect(await read('5 3 0 0\n4 2 0 1\n', { format: 'arc', chunkBytes })).toEqual({ keys: [0, 1, 2, 3, 0] });
    const words = new Uint8Array(new Uint32Array([7, 1, 7, 2, 7, 1]).buffer);
    expect(await read(words, { format: 'u32', chunkBytes })).toEqual({ keys: [0, 1, 0, 2, 0, 1] });
    expect(await read(words, { format: 'u64', chunkBytes })).toEqual({ keys: [0, 1, 0] });
  });

  it.each<[TraceFormat, string]>([
    ['lirs', '7\n9\n'],
    ['arc', '7 1 0 0\n9 1 0 0\n'],
    ['csv', 'key\n7\n9\n'],
    ['record', RECORD_HEADER + recorded({ key: '7' }) + recorded({ key: '9' })],
    ['mooncake', MOONCAKE({ hash_ids: [7] }) + MOONCAKE({ hash_ids: [9] })],
    ['azure', `${AZURE_HEADER}2023-11-16 18:17:03.9799600,1,1\r\n2023-11-16 18:17:04.0319600,1,1\r\n`],
  ])('pass over a byte order mark: %s', async (format, text) => {
    for (const chunkBytes of [1, 2, 1_000]) {
      const marked = await read(`\uFEFF${text}`, { format, chunkBytes });
      expect(marked.keys).toEqual([0, 1]);
      expect(marked).toEqual(await read(text, { format }));
    }
  });

  it('pass over no mark that stands elsewhere', async () => {
    expect(await failure('7\n\uFEFF9\n', { format: 'lirs' })).toContain('line 2');
  });

  it('tell a number that is too large from what is no number', async () => {
    for (const [format, rest] of [
      ['lirs', ''],
      ['arc', ' 1 0 0'],
    ] as const) {
      expect(await failure(`9007199254740993${rest}\n`, { format })).toContain(
        '"9007199254740993" is too large (9007199254740991 at most)',
      );
      expect(await failure(`90071992547409930x${rest}\n`, { format })).toContain('is not a whole number');
    }
  });

  it('read libCacheSim records: keys of 64 bits, sizes, times from the first', async () => {
    const data = oracle([100, 2n ** 63n, 512, 2n], [101, 5n, 0, -1n], [103, 2n ** 63n, 512, -1n]);
    expect(await read(data, { format: 'oracle-general', chunkBytes: 5 })).toEqual({
      keys: [0, 1, 0],
      sizes: [512, 0, 512],
      timesMs: [0, 1_000, 3_000],
    });
  });

  it("read Mooncake's blocks in order, each a request with the one before it as parent", async () => {
    const data = MOONCAKE({ hash_ids: [4, 6] }) + MOONCAKE({ timestamp: 27, hash_ids: [4, 6, 5] });
    expect(await read(data, { format: 'mooncake', chunkBytes: 9 })).toEqual({
      keys: [0, 1, 0, 1, 2],
      timesMs: [0, 0, 27, 27, 27],
      groups: [0, 0, 1, 1, 1],
      parents: [-1, 0, -1, 0, 1],
    });
  });

  it("read Azure's arrivals, no two of the same key", async () => {
    const data = `${AZURE_HEADER}2023-11-16 23:59:59.5000000,374,44\r\n2023-11-17 00:00:01.2500000,1,2\r\n`;
    expect(await read(data, { format: 'azure' })).toEqual({ keys: [0, 1], timesMs: [0, 1_750], costs: [418, 3] });
  });

  it('read CSV by names of a header, known or declared', async () => {
    const data = 'ts,key,bytes,session\n10,"a, ""b""",5,x\n12,c,6,y\n12,"a, ""b""",5,x\n';
    const right = { keys: [0, 1, 0], sizes: [5, 6, 5], timesMs: [0, 2, 2], groups: [0, 1, 0] };
    expect(await read(data, { format: 'csv' })).toEqual(right);
    const columns = { key: 'session', time: 'ts', timeUnit: 's' } as const;
    expect(await read(data, { format: 'csv', columns })).toEqual({ keys: [0, 1, 0], timesMs: [0, 2_000, 2_000] });
  });

  it('read CSV without a header by numbers of columns', async () => {
    const columns = { key: '2', size: '3', cost: '1' };
    expect(await read('0.5;a;5\n1;b;6', { format: 'csv', columns })).toEqual({
      keys: [0, 1],
      sizes: [5, 6],
      costs: [0.5, 1],
    });
  });

  it('read recordings without the requests that failed', async () => {
    const data =
      RECORD_HEADER +
      recorded({}) +
      recorded({ tMs: 3, outcome: 'error', key: 'e' }) +
      recorded({ tMs: 4, key: 'l', scope: '', outcome: 'hit-exact-l1' }) +
      recorded({ tMs: 4 });
    expect(await read(data, { format: 'record' })).toEqual({
      keys: [0, 1, 0],
      sizes: [10, 10, 10],
      timesMs: [0, 4, 4],
      costs: [5, 5, 5],
      groups: [0, 1, 0],
    });
  });

  it('cut long traces into batches and can be read again', async () => {
    const total = 2 * BATCH_REQUESTS + 5;
    const trace = source(`0 ${total} 0 0\n`, { format: 'arc' });
    for (let reading = 0; reading < 2; reading += 1) {
      const counts: number[] = [];
      for await (const { count } of trace.batches()) counts.push(count);
      expect(counts).toEqual([BATCH_REQUESTS, BATCH_REQUESTS, 5]);
    }
  });
});

describe('bad traces', () => {
  const cases: readonly [what: string, data: string | Uint8Array, reading: Reading, message: string][] = [
    ['no rows', '', { format: 'lirs' }, 'line 1, column 1 (byte): there is no request in it'],
    ['marks only', '*\n*\n', { format: 'lirs' }, 'line 3, column 1 (byte): there is no request in it'],
    ['a word', '1\nx2\n', { format: 'lirs' }, 'line 2, column 1: "x2" is not a whole number'],
    ['a negative key', '1\n-2\n', { format: 'lirs' }, 'line 2, column 1: "-2" is not a whole number'],
    ['two columns', '1\n2 3\n', { format: 'lirs' }, 'line 2, column 2: a line of this format has one column'],
    [
      'a missing column',
      '1 2 0 0\n1 2 0\n',
      { format: 'arc' },
      'line 2, column 4: a line of this format has 4 columns',
    ],
    ['a further column', '1 2 0 0 5\n', { format: 'arc' }, 'line 1, column 5: a line of this format has 4 columns'],
    ['a huge count', '1 1 0 0\n1 1000000000 0 1\n', { format: 'arc' }, 'line 2, column 2 (count): 1000000000 is more'],
    [
      'keys past what is exact',
      '9007199254740991 9 0 0\n',
      { format: 'arc' },
      'line 1, column 1 (start): 9007199254740991',
    ],
    ['no count', '1 0 0 0\n', { format: 'arc' }, 'line 1, column 2 (count): 0 is less than 1'],
    ['a cut key', new Uint8Array(11), { format: 'u64' }, 'record 2, column 4 (byte): the last record has 3 of 8 bytes'],
    ['no binary rows', new Uint8Array(0), { format: 'u32' }, 'record 1, column 1 (byte): there is no request'],
    [
      'time going back in records',
      oracle([5, 1n, 1, -1n], [4, 1n, 1, -1n]),
      { format: 'oracle-general' },
      'record 2, column 1 (time): time goes back from 5 to 4',
    ],
    [
      'a huge size',
      oracle([5, 1n, 1e9, -1n]),
      { format: 'oracle-general' },
      'record 1, column 3 (size): 1000000000 is more',
    ],
    [
      'a wrong next',
      oracle([5, 1n, 1, -7n]),
      { format: 'oracle-general' },
      'record 1, column 4 (next): -7 is less than -1',
    ],
    [
      'no JSON',
      `${MOONCAKE({})}{"timestamp": 1,\n`,
      { format: 'mooncake' },
      'line 2, column 17 (character): the line is not JSON',
    ],
    ['no object', '[1]\n', { format: 'mooncake' }, 'line 1, column 1: the line is not an object'],
    [
      'no blocks',
      MOONCAKE({ hash_ids: 7 }),
      { format: 'mooncake' },
      'line 1, column hash_ids: the line has no list of blocks',
    ],
    [
      'a negative block',
      MOONCAKE({ hash_ids: [1, -2] }),
      { format: 'mooncake' },
      'line 1, column hash_ids[1]: -2 is less',
    ],
    [
      'huge tokens',
      MOONCAKE({ input_length: 1e9 }),
      { format: 'mooncake' },
      'line 1, column input_length: 1000000000 is more',
    ],
    [
      'time going back in JSON',
      MOONCAKE({ timestamp: 9 }) + MOONCAKE({}),
      { format: 'mooncake' },
      'line 2, column timestamp: time goes back from 9 to 0',
    ],
    [
      'a negative time',
      MOONCAKE({ timestamp: -1 }),
      { format: 'mooncake' },
      'line 1, column timestamp: -1 is negative',
    ],
    ['a wrong header', 'time,a,b\n', { format: 'azure' }, 'line 1, column 1: "time" should be TIMESTAMP'],
    ['a header only', AZURE_HEADER, { format: 'azure' }, 'line 2, column 1 (byte): there is no request in it'],
    [
      'a missing field',
      `${AZURE_HEADER}2023-11-16 18:15:46.68,374\r\n`,
      { format: 'azure' },
      'line 2, column 3 (GeneratedTokens): the line has 2 columns, but this format 3',
    ],
    [
      'no time',
      `${AZURE_HEADER}noon,374,1\r\n`,
      { format: 'azure' },
      'line 2, column 1 (TIMESTAMP): "noon" is not a time',
    ],
    [
      'huge tokens in CSV',
      `${AZURE_HEADER}2023-11-16 18:15:46,374,1000000000\n`,
      { format: 'azure' },
      'line 2, column 3 (GeneratedTokens): 1000000000 is more than',
    ],
    ['an unknown header', 'a,b\n1,2\n', { format: 'csv' }, 'line 1, column 1: no column is known to be the key'],
    ['a negative size', 'key,size\na,1\nb,-1\n', { format: 'csv' }, 'line 3, column 2 (size): -1 is less than 0'],
    [
      'a huge size in CSV',
      'key,size\na,1000000000\n',
      { format: 'csv' },
      'line 2, column 2 (size): 1000000000 is more than',
    ],
    [
      'a row too short',
      'key,size\na\n',
      { format: 'csv' },
      'line 2, column 2: the line has 1 columns, the first one 2',
    ],
    [
      'a row too long',
      'key,size\na,1,2\n',
      { format: 'csv' },
      'line 2, column 3: the line has 3 columns, the first one 2',
    ],
    ['an empty key', 'key,size\n,1\n', { format: 'csv' }, 'line 2, column 1 (key): the key is empty'],
    ['an open quote', 'key,size\n"a,1\n', { format: 'csv' }, 'line 2, column 1: a quoted field does not end'],
    [
      'time going back in CSV',
      'key,time\na,2\na,1\n',
      { format: 'csv' },
      'line 3, column 2 (time): time goes back from 2 to 1',
    ],
    [
      'an undeclared column',
      'key,size\na,1\n',
      { format: 'csv', columns: { key: 'id' } },
      'line 1, column "id": there is no such column for key; there is key, size',
    ],
    [
      'a column that is not there',
      'a,1\n',
      { format: 'csv', columns: { key: '1', size: '3' } },
      'line 1, column 3: the line has 2 columns only',
    ],
    [
      'another schema',
      '{"schema":"reprise/record/v9"}\n',
      { format: 'record' },
      'line 1, column schema: "reprise/record/v9" is not',
    ],
    ['no header', recorded({}), { format: 'record' }, 'line 1, column schema: nothing is not reprise/record/v1'],
    ['no key', RECORD_HEADER + recorded({ key: 7 }), { format: 'record' }, 'line 2, column key: the key is no text'],
    [
      'negative bytes',
      RECORD_HEADER + recorded({ bytes: -3 }),
      { format: 'record' },
      'line 2, column bytes: -3 is less than 0',
    ],
    [
      'half bytes',
      RECORD_HEADER + recorded({ bytes: 1.5 }),
      { format: 'record' },
      'line 2, column bytes: 1.5 is not a whole',
    ],
    [
      'a recording whose time goes back',
      RECORD_HEADER + recorded({ tMs: 5 }) + recorded({ tMs: 4 }),
      { format: 'record' },
      'line 3, column tMs: time goes back from 5 to 4',
    ],
    [
      'a recording without requests',
      RECORD_HEADER,
      { format: 'record' },
      'line 2, column 1 (byte): there is no request',
    ],
  ];
  it.each(cases)('%s: names file, line and column', async (_what, data, reading, message) => {
    const told = await failure(data, reading);
    expect(told.slice(0, `${FILE}, ${message}`.length)).toBe(`${FILE}, ${message}`);
  });

  it('refuse a line without end instead of keeping it', async () => {
    const told = await failure(new Uint8Array(5 * 1_024 * 1_024).fill(49), { format: 'lirs', chunkBytes: 65_536 });
    expect(told).toMatch(/^some\.trace, line 1, column \d+ \(byte\): the line is too long$/u);
  });
});
