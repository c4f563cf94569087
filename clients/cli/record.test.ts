import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecordedRequest, RecordHeader } from '../../runtime/ports/recording.ts';
import { CommandFailure } from './exit.ts';
import { recordToFile, type Recorded, type RecordToFileOptions } from './record/record-to-file.ts';
import { startCliServer, type CliServer } from './testing/cli-server.ts';
import { runCaptured } from './testing/captured-terminal.ts';

const SECRET = 'capital of France|who pays for the yacht?';

let folder: string;
let path: string;
let node: CliServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-record-'));
  path = join(folder, 'some.jsonl.gz');
});
afterEach(async () => {
  await node?.close();
  node = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Underway {
  readonly stop: () => void;
  readonly done: Promise<Recorded>;
}

/** Begins to record; resolves once the node does. */
async function begun(options: Partial<RecordToFileOptions> = {}): Promise<Underway> {
  const stop = new AbortController();
  return await new Promise((resolve, reject) => {
    const done = recordToFile({
      url: node?.server.http.url ?? '',
      path,
      force: false,
      bytesMax: 1_000_000,
      terms: { texts: false, vectors: false },
      signal: stop.signal,
      onBegun: () => resolve({ stop: () => stop.abort(), done }),
      ...options,
    });
    done.catch(reject);
  });
}

async function ask(question: string): Promise<void> {
  const reply = await fetch(`${node!.server.http.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: question }] }),
  });
  expect(reply.status).toBe(200);
  await reply.arrayBuffer();
  await node!.server.assembly.node.drain(10_000);
}

function linesOf(file: string): { header: RecordHeader; requests: RecordedRequest[]; text: string } {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  const [header, ...requests] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  return { header: header as RecordHeader, requests: requests as RecordedRequest[], text };
}

describe('reprise record', () => {
  it('writes a trace that replay reads, with neither texts nor names in it', async () => {
    node = await startCliServer();
    const recording = await begun();
    for (const question of [SECRET, SECRET, 'another|one']) await ask(question);
    node.server.assembly.node.recordings.stop();
    const done = await recording.done;
    expect(done).toMatchObject({ path, requests: 3, dropped: 0 });
    const { header, requests, text } = linesOf(path);
    expect(header).toMatchObject({ schema: 'reprise/record/v1', hashed: true });
    expect(new Date(header.startedAt).getTime()).toBeGreaterThan(Date.now() - 600_000);
    expect(requests.map(({ outcome }) => outcome)).toEqual(['miss', 'hit-exact-l1', 'miss']);
    const [first, second, third] = requests;
    expect(first?.key).toMatch(/^[0-9a-f]{32}$/u);
    expect(second).toMatchObject({ key: first?.key, bytes: first?.bytes, modelMs: first?.modelMs });
    expect(third?.key).not.toBe(first?.key);
    expect(first?.bytes).toBeGreaterThan(0);
    for (const leak of ['France', 'yacht', '"local"', '"default"']) expect(text).not.toContain(leak);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const replayed = await runCaptured(['replay', path, '--policy', 'lru', '--size', '10', '--json']);
    expect(replayed.json<unknown[]>()).toMatchObject([{ policy: 'lru', requests: 3, hits: 1 }]);
  });

  it('tells of streams and of items of batches as of whole answers', async () => {
    node = await startCliServer();
    const recording = await begun();
    const { url } = node.server.http;
    const post = async (path: string, body: object): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(reply.status).toBe(200);
      await reply.arrayBuffer();
      await node?.server.assembly.node.drain(10_000);
    };
    const streamed = { model: 'demo', stream: true, messages: [{ role: 'user', content: SECRET }] };
    await post('/v1/chat/completions', streamed);
    await post('/v1/chat/completions', streamed);
    await Promise.all([0, 1].map(() => post('/v1/chat/completions', { ...streamed, seed: 1 })));
    await post('/v1/embeddings', { model: 'embedder', input: ['a|one', 'b|two'] });
    await post('/v1/embeddings', { model: 'embedder', input: ['b|two', 'c|three'] });
    node.server.assembly.node.recordings.stop();
    await recording.done;
    const { requests } = linesOf(path);
    expect(requests.map(({ outcome }) => outcome.replace(/-.*/u, ''))).toEqual([
      'miss',
      'hit',
      'miss',
      'hit',
      'miss',
      'miss',
      'hit',
      'miss',
    ]);
    const keys = requests.map(({ key }) => key);
    expect([keys[1], keys[3], keys[6]]).toEqual([keys[0], keys[2], keys[5]]);
    for (const { bytes, tMs } of requests) {
      expect(bytes).toBeGreaterThan(0);
      expect(tMs).toBeGreaterThanOrEqual(0);
    }
    expect(requests[1]?.bytes).toBe(requests[0]?.bytes);
    expect(requests[6]?.bytes).toBe(requests[5]?.bytes);
  });

  it('salts each recording anew', async () => {
    node = await startCliServer();
    const keys: (string | undefined)[] = [];
    for (const name of ['a.jsonl', 'b.jsonl']) {
      const recording = await begun({ path: join(folder, name) });
      await ask(SECRET);
      node.server.assembly.node.recordings.stop();
      await recording.done;
      keys.push(linesOf(join(folder, name)).requests[0]?.key);
    }
    expect(keys[0]).not.toBe(keys[1]);
  });

  it('gives texts and vectors only where the configuration allows it', async () => {
    node = await startCliServer();
    await expect(begun({ terms: { texts: true, vectors: false } })).rejects.toThrow('recording.texts');
    await node.close();
    node = await startCliServer({ recording: { texts: true }, semantic: { mode: 'serve' } });
    const recording = await begun({ terms: { texts: true, vectors: true } });
    // The first texts of a scope are embedded after their look-up only.
    for (const question of ['first|one', 'second|one', SECRET]) await ask(question);
    node.server.assembly.node.recordings.stop();
    await recording.done;
    const request = linesOf(path).requests.at(-1);
    expect(request?.text).toContain('yacht');
    const vector = Buffer.from(request?.vector ?? '', 'base64');
    expect(vector.length).toBeGreaterThan(0);
    const values = Array.from({ length: vector.length / 4 }, (_, at) => vector.readFloatLE(at * 4));
    expect(Math.hypot(...values)).toBeCloseTo(1, 5);
  });

  it('records one at a time', async () => {
    node = await startCliServer();
    const recording = await begun();
    const failure: unknown = await begun({ path: join(folder, 'other.jsonl') }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CommandFailure);
    expect(failure).toMatchObject({ code: 'overloaded' });
    recording.stop();
    await recording.done;
    expect(readdirSync(folder)).toEqual(['some.jsonl.gz']);
  });

  it('stops at its size, and lets the node go on', async () => {
    node = await startCliServer();
    const recording = await begun({ path: join(folder, 'small.jsonl'), bytesMax: 1_000 });
    for (let at = 0; at < 6; at += 1) await ask(`question|${at}`);
    const done = await recording.done;
    expect(done.bytes).toBeLessThanOrEqual(1_000);
    expect(statSync(done.path).size).toBe(done.bytes);
    expect(linesOf(done.path).requests).toHaveLength(done.requests);
    expect(done.requests).toBeLessThan(6);
    await ask('still|there');
  });

  it('keeps what came when the node goes away, and says so', async () => {
    const lines = '{"schema":"reprise/record/v1"}\n{"tMs":1}\n{"tMs":2,"cut';
    const server = createServer((_request, response) => {
      response.writeHead(200);
      response.write(lines, () => setImmediate(() => response.destroy()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const plain = join(folder, 'cut.jsonl');
    const failure: unknown = await begun({ url, path: plain })
      .then(({ done }) => done)
      .catch((error: unknown) => error);
    await new Promise((resolve) => server.close(resolve));
    expect(failure).toMatchObject({ code: 'unreachable' });
    expect(readFileSync(plain, 'utf8')).toBe('{"schema":"reprise/record/v1"}\n{"tMs":1}\n');
  });

  it('takes what is no count of the node for none missing', async () => {
    const server = createServer((asked, response) => {
      response.writeHead(asked.method === 'POST' ? 200 : 401);
      response.end(asked.method === 'POST' ? '{"schema":"reprise/record/v1"}\n{"tMs":1}\n' : '{"dropped":"many"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { done } = await begun({ url: `http://127.0.0.1:${port}`, path: join(folder, 'whole.jsonl') });
    expect(await done).toMatchObject({ requests: 1, dropped: 0 });
    await new Promise((resolve) => server.close(resolve));
  });

  it('writes no file where nobody answers', async () => {
    const out = join(folder, 'none.jsonl');
    const run = await runCaptured(['record', '--url', 'http://127.0.0.1:1', '--out', out]);
    expect(run.code).toBe(3);
    expect(run.err).toContain('unreachable');
    expect(existsSync(out)).toBe(false);
  });

  it('says before it begins that the file can not be written', async () => {
    node = await startCliServer();
    const { url } = node.server.http;
    writeFileSync(path, 'kept');
    for (const [out, message, ...more] of [
      [join(folder, 'no', 'r'), /data_invalid: .*no\/r can't be written \(ENOENT\)/],
      [folder, /data_invalid: .* can't be written \(it is a folder\)/, '--force'],
      ['/dev/null', /data_invalid: \/dev\/null can't be written \(it is no file\)/, '--force'],
      [path, /data_invalid: .* is there already\. .*--force/],
    ] as const) {
      const run = await runCaptured(['record', '--url', url, '--out', out, '--for', '50ms', ...more]);
      expect(run.code).toBe(1);
      expect(run.err).toMatch(message);
      expect(run.err).not.toContain('recording to');
    }
    expect(readFileSync(path, 'utf8')).toBe('kept');
    const replaced = await runCaptured(['record', '--url', url, '--out', path, '--for', '50ms', '--force']);
    expect(replaced.code).toBe(0);
    expect(linesOf(path).header.schema).toBe('reprise/record/v1');
  });

  it('tells an end before the beginning from a node that does not answer', async () => {
    const stop = new AbortController();
    const silent = createServer(() => stop.abort());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    await expect(begun({ url: `http://127.0.0.1:${port}`, signal: stop.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
    silent.closeAllConnections();
    silent.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses what is no size or duration', async () => {
    for (const bad of [
      ['--limit', 'much'],
      ['--for', 'ever'],
    ]) {
      const run = await runCaptured(['record', '--out', path, ...bad]);
      expect(run.code).toBe(2);
      expect(run.err).toContain(bad[1]);
    }
  });
});
