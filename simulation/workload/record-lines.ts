import { RECORD_SCHEMA, type RecordedRequest, type RecordHeader } from '../../runtime/ports/recording.ts';
import type { TraceBatch, TraceSource } from './trace.ts';

const KEY_DIGITS = 16;
const HEX = 16;

/** A trace as lines of `reprise/record/v1`, a batch at once: keys as hex, costs as `modelMs`; what a trace doesn't know is empty. */
export async function* recordLines(source: TraceSource): AsyncGenerator<string> {
  const header: RecordHeader = {
    schema: RECORD_SCHEMA,
    startedAt: '1970-01-01T00:00:00.000Z',
    embedder: '',
    hashed: true,
  };
  yield `${JSON.stringify(header)}\n`;
  for await (const batch of source.batches()) {
    let lines = '';
    for (let at = 0; at < batch.count; at += 1) lines += `${JSON.stringify(requestAt(batch, at))}\n`;
    yield lines;
  }
}

function requestAt({ keys, sizes, timesMs, costs, groups }: TraceBatch, at: number): RecordedRequest {
  return {
    tMs: timesMs?.[at] ?? 0,
    tenant: '',
    namespace: '',
    operation: 'chat.completions',
    model: '',
    version: '',
    key: hexOf(keys[at]!),
    scope: groups === undefined ? '' : hexOf(groups[at]!),
    promptTokens: 0,
    outputTokens: 0,
    bytes: sizes?.[at] ?? 1,
    firstTokenMs: 0,
    modelMs: costs?.[at] ?? 0,
    cost: 0,
    ttlMs: null,
    outcome: 'miss',
    candidates: [],
  };
}

function hexOf(id: number): string {
  return id.toString(HEX).padStart(KEY_DIGITS, '0');
}
