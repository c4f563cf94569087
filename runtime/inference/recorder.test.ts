import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { hasCode } from '../errors.ts';
import type { RecordedRequest, Recording } from '../ports/recording.ts';
import { CountingTelemetry } from '../semantic/testing/doubles.ts';
import { isoTime } from './iso-time.ts';
import { LineQueue } from './line-queue.ts';
import { Recorder, type RecordNote, type RecordedSubject } from './recorder.ts';

const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();
const HASH = { sha256, sha256Hex: (data: Uint8Array | string) => sha256(data).toString('hex') };
const MIB = 1_024 * 1_024;
const NO_TERMS = { texts: false, vectors: false };

let clock: ManualClock;
let telemetry: CountingTelemetry;
let recorder: Recorder;
beforeEach(() => {
  clock = new ManualClock();
  telemetry = new CountingTelemetry();
  recorder = new Recorder(
    { clock, hash: HASH, random: new SeededRandom('recorder'), telemetry },
    { embedder: 'e', texts: false },
  );
});

function arrives(key: string, changes: Partial<RecordedSubject> = {}): RecordNote {
  const note = recorder.begin({
    operation: 'chat.completions',
    parts: { tenant: 'acme', model: 'm', modelVersion: 'v' },
    namespaceName: 'default',
    facts: { askedText: 'a secret' },
    key,
    scope: () => '',
    ttlMs: 1_000,
    startedAtMs: clock.monotonicMs(),
    ...changes,
  });
  if (note === undefined) throw new Error('nothing is recorded');
  return note;
}

function withTexts(): Recorder {
  recorder = new Recorder(
    { clock, hash: HASH, random: new SeededRandom('recorder'), telemetry },
    { embedder: 'e', texts: true },
  );
  return recorder;
}

function arrivesWithText(at: number): RecordNote {
  return arrives(`key ${at}`, { scope: () => 's', facts: { askedText: 'word '.repeat(4_000) } });
}

function ends(note: RecordNote, detail = 'exact-l1'): void {
  note.end({ outcome: 'hit', detail, served: { promptTokens: 3, completionTokens: 4 }, cost: 0.5 });
}

async function requestsOf(recording: Recording): Promise<RecordedRequest[]> {
  recording.stop();
  let text = '';
  for await (const lines of recording.lines) text += lines;
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as RecordedRequest);
}

describe('Recorder', () => {
  it('costs nothing while nothing is recorded', async () => {
    expect(recorder.begin({} as RecordedSubject)).toBeUndefined();
    const recording = recorder.start(NO_TERMS);
    await requestsOf(recording);
    expect(recorder.begin({} as RecordedSubject)).toBeUndefined();
  });

  it('writes requests in the order of arrival, however they end', async () => {
    const recording = recorder.start(NO_TERMS);
    const notes: RecordNote[] = [];
    for (const key of ['slow', 'quick', 'next']) {
      notes.push(arrives(key));
      clock.advance(5);
    }
    ends(notes[2]!);
    ends(notes[1]!, 'semantic');
    notes[0]!.fail(new Error('x'), false);
    const requests = await requestsOf(recording);
    expect(requests.map(({ tMs, outcome }) => [tMs, outcome])).toEqual([
      [0, 'error'],
      [5, 'hit-semantic'],
      [10, 'hit-exact-l1'],
    ]);
    expect(recorder.status()).toEqual({ isRecording: false, written: 3, dropped: 0 });
  });

  it('tells what answered: sizes, times, tokens, candidates by hashed keys', async () => {
    const recording = recorder.start(NO_TERMS);
    const note = arrives('k', { ttlMs: Infinity, scope: () => 's' });
    const evidence = {
      entryId: 'k',
      similarity: 0.9,
      probability: 0.8,
      vetoes: ['numbers'],
      storedText: 'another secret',
    };
    note.saw([{ ...evidence, served: false, reason: 'vetoed', guards: [], unknown: [] }], undefined);
    note.answered(77, { firstTokenMs: 3, modelMs: 9 });
    note.followed(1, { firstTokenMs: 1, modelMs: 1 });
    ends(note);
    ends(note);
    const [request, ...others] = await requestsOf(recording);
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      bytes: 77,
      firstTokenMs: 3,
      modelMs: 9,
      promptTokens: 3,
      outputTokens: 4,
      cost: 0.5,
      ttlMs: null,
    });
    expect(request?.candidates).toEqual([
      { key: request?.key, similarity: 0.9, probability: 0.8, vetoes: ['numbers'] },
    ]);
    expect(JSON.stringify(request)).not.toMatch(/secret|acme|"k"|"s"/u);
    expect(request?.key).not.toBe(HASH.sha256Hex('k').slice(0, 32));
  });

  it('gives no texts where the node says so', () => {
    for (const terms of [
      { texts: true, vectors: false },
      { texts: false, vectors: true },
    ]) {
      let failure: unknown;
      try {
        recorder.start(terms);
      } catch (error) {
        failure = error;
      }
      expect(hasCode(failure, 'permission_denied')).toBe(true);
      expect(recorder.status().isRecording).toBe(false);
    }
  });

  it('drops what is not taken, counts it, and holds nothing up', async () => {
    const recording = recorder.start(NO_TERMS);
    const total = 40_000;
    for (let at = 0; at < total; at += 1) ends(arrives(`key ${at}`));
    const { written, dropped } = recorder.status();
    expect(dropped).toBeGreaterThan(0);
    expect(written + dropped).toBe(total);
    expect(telemetry.count('reprise_recorded_requests_total dropped')).toBe(dropped);
    expect(await requestsOf(recording)).toHaveLength(written);
  });

  it('gives up the oldest request where too many wait for it', async () => {
    const recording = recorder.start(NO_TERMS);
    const hung = arrives('hung');
    const taken: string[] = [];
    const reader = (async () => {
      for await (const lines of recording.lines) taken.push(lines);
    })();
    for (let at = 0; at < 16_384; at += 1) ends(arrives(`key ${at}`));
    expect(recorder.status()).toMatchObject({ written: 16_384, dropped: 1 });
    ends(hung);
    recording.stop();
    await reader;
    expect(recorder.status()).toMatchObject({ written: 16_384, dropped: 1 });
    expect(taken.join('').trimEnd().split('\n')).toHaveLength(1 + 16_384);
  });

  it('gives up the oldest request where lines of too many characters wait for it', async () => {
    const recording = withTexts().start({ texts: true, vectors: false });
    const hung = arrives('hung');
    let taken = '';
    const reader = (async () => {
      for await (const lines of recording.lines) taken += lines;
    })();
    const requests = 600;
    for (let at = 0; at < requests; at += 1) {
      ends(arrivesWithText(at));
      await Promise.resolve();
    }
    expect(recorder.status().dropped).toBe(1);
    ends(hung);
    recording.stop();
    await reader;
    expect(recorder.status()).toMatchObject({ written: requests, dropped: 1 });
    expect(taken.trimEnd().split('\n')).toHaveLength(1 + requests);
  });

  it('holds no more than 8 MiB of lines, those that wait for an older request included', async () => {
    const recording = withTexts().start({ texts: true, vectors: false });
    const requests = 1_000;
    for (let at = 0; at < requests; at += 1) {
      if (at % 100 === 0) arrives(`hung ${at}`);
      ends(arrivesWithText(at));
    }
    let characters = 0;
    recording.stop();
    for await (const lines of recording.lines) characters += lines.length;
    expect(characters).toBeGreaterThan(4 * MIB);
    expect(characters).toBeLessThanOrEqual(8 * MIB);
    const { written, dropped } = recorder.status();
    expect(written + dropped).toBe(requests + 10);
  });

  it('leaves out what still runs when it stops, and counts it', async () => {
    const recording = recorder.start(NO_TERMS);
    const running = arrives('running');
    ends(arrives('done'));
    expect(await requestsOf(recording)).toHaveLength(1);
    ends(running);
    expect(recorder.status()).toMatchObject({ written: 1, dropped: 1 });
    expect(telemetry.count('reprise_recorded_requests_total dropped')).toBe(1);
  });

  it('refuses a second recording, and says when to ask again', () => {
    recorder.start(NO_TERMS);
    expect(() => recorder.start(NO_TERMS)).toThrow(
      expect.objectContaining({ code: 'overloaded', retryAfterMs: 60_000 }),
    );
  });
});

describe('LineQueue', () => {
  it('hands over all that waits at once, then waits for more', async () => {
    const queue = new LineQueue({ charactersMax: 4 });
    expect([queue.add('ab'), queue.add('cd'), queue.add('e')]).toEqual([true, true, false]);
    const lines = queue.lines();
    expect((await lines.next()).value).toBe('abcd');
    const next = lines.next();
    expect(queue.add('xyz')).toBe(true);
    expect((await next).value).toBe('xyz');
    queue.add('end');
    queue.end();
    expect(queue.add('late')).toBe(false);
    expect((await lines.next()).value).toBe('end');
    expect((await lines.next()).done).toBe(true);
  });
});

describe('isoTime', () => {
  it('writes what the platform does', () => {
    const times = [0, 951_782_399_999, 951_868_800_000, 1_709_164_800_000, 4_102_444_799_000, 1_764_534_358_123];
    for (const time of times) expect(isoTime(time)).toBe(`${new Date(time).toISOString().slice(0, 19)}Z`);
  });
});
