import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SettingsInput } from '../../runtime/config/index.ts';
import { EXIT } from './exit.ts';
import { startCliServer, type CliServer } from './testing/cli-server.ts';
import { runCaptured, type CliRun } from './testing/captured-terminal.ts';
import { exportToFile } from './transfer/export-to-file.ts';
import { importFromFile, type Imported } from './transfer/import-from-file.ts';

const QUESTIONS = ['capital|one', 'river|two', 'mountain|three'];

let folder: string;
let file: string;
const nodes: CliServer[] = [];
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-transfer-'));
  file = join(folder, 'entries.jsonl.gz');
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

async function node(settings: SettingsInput = {}): Promise<CliServer> {
  const started = await startCliServer(settings);
  nodes.push(started);
  return started;
}

async function filled(settings: SettingsInput = {}): Promise<CliServer> {
  const started = await node(settings);
  for (const question of QUESTIONS) await started.store(question);
  return started;
}

function run(command: 'export' | 'import', at: CliServer, ...more: readonly string[]): Promise<CliRun> {
  return runCaptured([command, file, '--url', at.server.http.url, ...more]);
}

function linesOf(path: string): string[] {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().trimEnd().split('\n');
}

/** How a question is answered now: `hit …` or `fwd=miss …`. */
async function cacheStatus(at: CliServer, question: string): Promise<string> {
  const reply = await fetch(`${at.server.http.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'cache-control': 'only-if-cached' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: question }] }),
  });
  await reply.arrayBuffer();
  return reply.status === 200 ? 'hit' : `none (${reply.status})`;
}

/** A server that answers as `answer` says, by path; gives its address. */
async function fake(answer: (path: string, body: unknown) => { status: number; json: unknown }): Promise<string> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const { status, json } = answer(request.url ?? '', text === '' ? undefined : JSON.parse(text));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('reprise export', () => {
  it('writes every entry between a header and a count, for its owner only', async () => {
    const home = await filled();
    const done = await run('export', home, '--json');
    expect(done.code).toBe(EXIT.done);
    expect(done.json()).toMatchObject({ path: file, entries: 3, stale: 0, scanned: 3 });
    const lines = linesOf(file).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toMatchObject({ schema: 'reprise/entries/v1', keyVersion: 1, layoutVersion: 1 });
    expect(lines.at(-1)).toEqual({ end: true, entries: 3 });
    expect(Buffer.from(String(lines[1]?.['entry']), 'base64').subarray(0, 3).toString()).toBe('RPE');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is for admins, and leaves no file when it is refused', async () => {
    const home = await node({ identity: { keys: [{ name: 'k', sha256: SHA_OF_SECRET, tenant: 't', role: 'write' }] } });
    const refused = await run('export', home, '--credential', 'secret');
    expect(refused.code).toBe(EXIT.failed);
    expect(refused.err).toContain('admin');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('tries a page again, and goes on where it was', async () => {
    const terms = { keyVersion: 1, layoutVersion: 1, incarnation: { counter: 1, random: '0'.repeat(16) } };
    let tries = 0;
    const asked: unknown[] = [];
    const url = await fake((path, body) => {
      if (path === '/admin/transfer') return { status: 200, json: terms };
      asked.push((body as { after?: string }).after);
      tries += 1;
      if (tries === 2) return { status: 503, json: { error: { code: 'grid_timeout', message: 'Too late.' } } };
      const page = { terms, entries: [{ key: `k${tries}`, entry: 'AAAA' }], scanned: 1, scannedBytes: 3 };
      return { status: 200, json: tries < 3 ? { ...page, next: `after ${tries}` } : page };
    });
    const seen: number[] = [];
    const { signal } = new AbortController();
    const onProgress = (entries: number): unknown => seen.push(entries);
    const done = await exportToFile({ url, path: file, signal, backOffMs: 1, onProgress });
    expect(done).toMatchObject({ entries: 2, scanned: 2 });
    expect(asked).toEqual([undefined, 'after 1', 'after 1']);
    expect(seen).toEqual([1, 2]);
  });

  it('gives up with the ledger that began anew, and says who does not answer', async () => {
    let calls = 0;
    const url = await fake(() => {
      const incarnation = { counter: (calls += 1), random: String(calls).repeat(16) };
      const terms = { keyVersion: 1, layoutVersion: 1, incarnation };
      return { status: 200, json: calls === 1 ? terms : { terms, entries: [], scanned: 0, scannedBytes: 0 } };
    });
    const anew = await runCaptured(['export', file, '--url', url]);
    expect([anew.code, anew.err]).toEqual([EXIT.failed, expect.stringContaining('began anew')]);
    const signal = AbortSignal.timeout(60_000);
    const nobody = exportToFile({ url: 'http://127.0.0.1:1', path: file, signal, backOffMs: 1, onProgress: () => 0 });
    await expect(nobody).rejects.toMatchObject({ code: 'unreachable' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('reprise import', () => {
  it('brings entries back into the node that they came from, but not what was invalidated since', async () => {
    const home = await filled();
    await run('export', home);
    const again = await run('import', home, '--json');
    expect(again.json<Imported>()).toMatchObject({ entries: 3, imported: 3, adopted: false });
    await runCaptured(['invalidate', '--namespace', 'default', '--address', home.address]);
    const none = await run('import', home);
    expect(none.code).toBe(EXIT.done);
    expect(none.out).toBe('0 of 3 entries imported; left out: 3 invalidated since\n');
    expect(await cacheStatus(home, QUESTIONS[0]!)).toBe('none (504)');
  });

  it('takes entries of another ledger only when it is told to adopt them', async () => {
    const home = await filled();
    const away = await node();
    file = join(folder, 'plain.jsonl');
    await run('export', home);
    const refused = await run('import', away, '--json');
    expect(refused.code).toBe(EXIT.failed);
    expect(refused.json()).toMatchObject({ error: { code: 'data_invalid' } });
    expect(refused.err).toContain('--adopt');
    expect(await cacheStatus(away, QUESTIONS[0]!)).toBe('none (504)');
    const adopted = await run('import', away, '--adopt', '--json');
    expect([adopted.code, adopted.json<Imported>().imported]).toEqual([EXIT.done, 3]);
    for (const question of QUESTIONS) expect(await cacheStatus(away, question)).toBe('hit');
    await runCaptured(['invalidate', '--tenant', 'local', '--yes', '--address', away.address]);
    expect(await cacheStatus(away, QUESTIONS[0]!)).toBe('none (504)');
    expect((await run('import', away, '--adopt', '--json')).json<Imported>()).toMatchObject({
      imported: 0,
      invalid: 3,
    });
  });

  it('keeps tenants apart', async () => {
    const home = await filled();
    const away = await node({ identity: { tenant: 'other' } });
    await run('export', home);
    expect((await run('import', away, '--adopt', '--json')).json<Imported>().imported).toBe(3);
    expect(await cacheStatus(away, QUESTIONS[0]!)).toBe('none (504)');
  });

  it('counts what the node finds too large, whether it or its server says so', async () => {
    const home = await filled();
    await run('export', home);
    const away = await node({ server: { httpPort: 0, grpcPort: 0, bodyBytesMax: 1_024, requestLog: false } });
    const done = await run('import', away, '--adopt', '--json');
    expect(done.json<Imported>()).toMatchObject({ imported: 0, tooLarge: 3 });
  });

  it('says so with its exit code when entries cannot be read', async () => {
    const url = await fake((path) => {
      const incarnation = { counter: 1, random: '0'.repeat(16) };
      if (path === '/admin/transfer') return { status: 200, json: { keyVersion: 1, layoutVersion: 1, incarnation } };
      if (path === '/admin/export') {
        const entries = [{ key: 'k', entry: 'AAAA' }];
        const terms = { keyVersion: 1, layoutVersion: 1, incarnation };
        return { status: 200, json: { terms, entries, scanned: 1, scannedBytes: 3 } };
      }
      const counts = { imported: 0, expired: 0, invalid: 0, kept: 0, foreign: 0, tooLarge: 0, unreadable: 1 };
      return { status: 200, json: counts };
    });
    await runCaptured(['export', file, '--url', url]);
    const done = await runCaptured(['import', file, '--url', url]);
    expect([done.code, done.out]).toEqual([EXIT.foundWrong, '0 of 1 entries imported; left out: 1 unreadable\n']);
  });

  it('says how far it came when the node goes away', async () => {
    const home = await filled();
    await run('export', home);
    const header = JSON.parse(linesOf(file)[0]!) as object;
    let offers = 0;
    const url = await fake((path) => {
      if (path === '/admin/transfer') return { status: 200, json: header };
      offers += 1;
      return { status: 503, json: { error: { code: 'grid_unavailable', message: 'The grid is away.' } } };
    });
    const { signal } = new AbortController();
    const broken = importFromFile({ url, path: file, adopt: false, signal, backOffMs: 1, onProgress: () => 0 });
    await expect(broken).rejects.toMatchObject({
      code: 'grid_unavailable',
      message: expect.stringMatching(/The grid is away\. It broke off at line 2 of .*, with 0 entries done/u) as string,
    });
    expect(offers).toBe(6);
  });
});

describe('a damaged file', () => {
  /** What the command says of a file with these contents; nothing may have been imported. */
  async function refusal(contents: string | Uint8Array, name = 'damaged.jsonl'): Promise<string> {
    const path = join(folder, name);
    writeFileSync(path, contents);
    const away = nodes[0]!;
    const { code, err } = await runCaptured(['import', path, '--adopt', '--url', away.server.http.url]);
    expect(code).toBe(EXIT.failed);
    expect(err).toMatch(/^reprise: data_invalid: /u);
    expect(await cacheStatus(away, QUESTIONS[0]!)).toBe('none (504)');
    return err.replace('reprise: data_invalid: ', '').trim().replaceAll(path, 'FILE');
  }

  let lines: string[];
  beforeEach(async () => {
    const away = await node();
    const home = await filled();
    await run('export', home);
    lines = linesOf(file);
    expect(away).toBe(nodes[0]);
  });

  it('is refused whole, with the line and byte of the damage', async () => {
    const [first, second, third, fourth, end] = lines as [string, string, string, string, string];
    const joined = (...some: string[]): string => some.map((line) => `${line}\n`).join('');
    const at = first.length + second.length + 2;
    const changed = third.replace(/"entry":"...../u, '"entry":"VlBFA');
    expect(changed).not.toBe(third);
    expect(await refusal(joined(first, second, changed, fourth, end))).toBe(
      `line 3 of FILE (at byte ${at}) is damaged: it is no entry with its right sum.`,
    );
    expect(await refusal(joined(first, second, third, fourth))).toBe(
      'FILE is cut off after line 4: its last line, which counts the entries, is missing.',
    );
    expect(await refusal(joined(first, second) + third.slice(0, 50))).toBe(
      `FILE is cut off in line 3 (at byte ${at}).`,
    );
    expect(await refusal(joined(first, second, end))).toContain('counts other entries than the 1 before it');
    expect(await refusal(joined(first, second, third, fourth, end, second))).toContain('goes on after its end');
    expect(await refusal(joined(second, end))).toContain('its first line is not a header of reprise/entries/v1');
    expect(await refusal('')).toContain('is no file of entries');
    expect(
      await refusal(joined(first.replace('"keyVersion":1', '"keyVersion":2'), second, third, fourth, end)),
    ).toContain('derivation 2');
    expect(
      await refusal(joined(first.replace('"layoutVersion":1', '"layoutVersion":9'), second, third, fourth, end)),
    ).toContain('layout 9');
  });

  it('may be a gzip file that ends early or is none', async () => {
    const packed = readFileSync(file);
    expect(await refusal(packed.subarray(0, packed.length - 9), 'cut.jsonl.gz')).toContain('cut off');
    expect(await refusal(Buffer.from('no gzip'), 'none.jsonl.gz')).toContain('no whole gzip file');
    const path = join(folder, 'missing.jsonl');
    const missing = await runCaptured(['import', path, '--url', nodes[0]!.server.http.url]);
    expect([missing.code, missing.err]).toEqual([EXIT.failed, expect.stringContaining("can't be read (ENOENT)")]);
  });
});

/** SHA-256 of `secret`. */
const SHA_OF_SECRET = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b';
