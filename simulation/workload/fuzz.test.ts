import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../runtime/errors.ts';
import { detectFormat } from './detect-format.ts';
import { makeReader } from './make-reader.ts';
import { TRACE_FORMATS, type TraceFormat } from './trace.ts';
import { traceFromBytes } from './trace-reader.ts';

const PLACE = /^f, (line|record) \d+, column \S.*: /u;

/** Reads to the end, or to an error that names its place. */
async function readOrRefuse(format: TraceFormat, bytes: Uint8Array): Promise<void> {
  const source = traceFromBytes(
    { name: 'f', file: 'f' },
    {
      // eslint-disable-next-line typescript/require-await
      async *bytes() {
        yield bytes.subarray(0, bytes.length >> 1);
        yield bytes.subarray(bytes.length >> 1);
      },
      makeReader: () => makeReader(format, { file: 'f', itemBytesMax: 1_000_000 }),
    },
  );
  let lastMs = -Infinity;
  let seen = -1;
  try {
    for await (const { count, keys, sizes, timesMs, parents } of source.batches()) {
      for (let at = 0; at < count; at += 1) {
        expect(keys[at]).toBeLessThanOrEqual(seen + 1);
        seen = Math.max(seen, keys[at]!);
        if (sizes !== undefined) expect(sizes[at]).toBeGreaterThanOrEqual(0);
        if (timesMs !== undefined) expect(timesMs[at]).toBeGreaterThanOrEqual(lastMs);
        lastMs = timesMs?.[at] ?? lastMs;
        if (parents !== undefined) expect(parents[at]).toBeLessThanOrEqual(seen);
      }
    }
  } catch (error) {
    if (!hasCode(error, 'data_invalid')) throw error;
    expect(error.message).toMatch(PLACE);
  }
}

const SAMPLES: Readonly<Partial<Record<TraceFormat, string>>> = {
  lirs: '1\n2\n*\n3\n',
  arc: '1 3 0 0\n2 1 0 1\n',
  mooncake: '{"timestamp":1,"input_length":3,"output_length":1,"hash_ids":[1,2]}\n{"timestamp":2,"hash_ids":[1]}\n',
  azure: 'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.68,3,4\r\n2023-11-16 18:15:47,3,4\r\n',
  csv: 'time,key,size\n1,"a,b",3\n2,c,4\n',
  record: '{"schema":"reprise/record/v1"}\n{"tMs":1,"key":"a","bytes":3}\n{"tMs":2,"key":"b","bytes":3,"scope":"s"}\n',
};

describe.each(TRACE_FORMATS)('%s', (format) => {
  it('takes any bytes, or says where it does not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), (bytes) => readOrRefuse(format, bytes)),
      { numRuns: 60 },
    );
  });

  it('takes a sound trace with some bytes changed, or says where it does not', async () => {
    const sample = new TextEncoder().encode(SAMPLES[format] ?? '\u0001\u0000\u0002\u0000'.repeat(24));
    const change = fc.tuple(fc.nat(sample.length - 1), fc.oneof(fc.nat(255), fc.constantFrom(10, 32, 44, 45, 48, 57)));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), fc.nat(sample.length), async (changes, length) => {
        const bytes = sample.slice();
        for (const [at, byte] of changes) bytes[at] = byte;
        await readOrRefuse(format, bytes.subarray(0, length));
      }),
      { numRuns: 150 },
    );
  });
});

describe('detectFormat', () => {
  it('has an opinion, or none, of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, isWhole) => {
        const found = detectFormat({ name: 'f', bytes, isWhole });
        expect(found === undefined || TRACE_FORMATS.includes(found.format)).toBe(true);
      }),
    );
  });
});
