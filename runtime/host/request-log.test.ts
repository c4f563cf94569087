import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RequestRecord } from '../../clients/gateway/index.ts';
import { RequestLog } from './request-log.ts';

const RECORD: RequestRecord = {
  requestId: 'abc-1',
  method: 'POST',
  path: '/v1/chat/completions',
  status: 200,
  outcome: 'hit',
  detail: 'exact-l1',
  durationMs: 0.25,
  bodyBytes: 300,
  replyBytes: 400,
  tenant: 'local',
  entry: '0123456789ab',
  model: 'demo',
  stream: false,
};
const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

function linesOf(act: (log: RequestLog) => void): string[] {
  const writes: string[] = [];
  const log = new RequestLog({ write: (lines) => writes.push(lines) }, () => AT_MS);
  act(log);
  log.flush();
  return writes;
}

describe('RequestLog', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('writes what the logger would', () => {
    const text = fc.string({ unit: 'binary' });
    const records = fc.record({ requestId: text, method: text, detail: text, tenant: text, model: text });
    fc.assert(
      fc.property(records, (texts) => {
        const record = { ...RECORD, ...texts };
        let expected = '';
        const time = `,"time":"${new Date(AT_MS).toISOString()}"`;
        const logger = pino({ base: null, timestamp: () => time }, { write: (line) => void (expected = line) });
        logger.info(record, 'request');
        expect(linesOf((log) => log.add(record))).toEqual([expected]);
      }),
    );
  });

  it('hands the lines of a short while over together', () => {
    vi.useFakeTimers();
    const writes: string[] = [];
    const log = new RequestLog({ write: (lines) => writes.push(lines) });
    log.add(RECORD);
    vi.advanceTimersByTime(10);
    log.add({ ...RECORD, requestId: 'abc-2' });
    vi.advanceTimersByTime(10);
    log.add({ ...RECORD, requestId: 'abc-3' });
    vi.advanceTimersByTime(20);
    const ids = writes.map((lines) => [...lines.matchAll(/abc-\d/g)].map(String));
    expect(ids).toEqual([['abc-1', 'abc-2'], ['abc-3']]);
  });

  it('holds a bounded number of lines', () => {
    const writes = linesOf((log) => {
      for (let index = 0; index < 1_500; index += 1) log.add(RECORD);
    });
    expect(writes.map((lines) => lines.split('\n').length - 1)).toEqual([1_024, 476]);
  });

  it('stamps each line with the time at which it was added', () => {
    let nowMs = AT_MS;
    const writes: string[] = [];
    const log = new RequestLog({ write: (lines) => writes.push(lines) }, () => nowMs);
    log.add(RECORD);
    nowMs += 1;
    log.add(RECORD);
    log.flush();
    expect([...writes.join('').matchAll(/:05\.\d+Z/g)].map(String)).toEqual([':05.006Z', ':05.007Z']);
  });
});
