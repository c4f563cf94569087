import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureEmbeddingModel } from './embedding-model.mjs';
import type { EnsureOptions, ModelDescription } from './embedding-model.mjs';

const MODEL_BYTES = Buffer.from('the model '.repeat(1_000));
const TOKENIZER_BYTES = Buffer.from('{"the": "tokenizer"}');
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const MODEL: ModelDescription = {
  name: 'tiny',
  files: {
    model: { file: 'model.onnx', sha256: sha256(MODEL_BYTES), bytesMax: 100_000, url: 'm', inArchive: 'in/m.onnx' },
    tokenizer: {
      file: 'tokenizer.json',
      sha256: sha256(TOKENIZER_BYTES),
      bytesMax: 1_000,
      url: 't',
      inArchive: 't.json',
    },
  },
  artifact: { coordinates: 'group:tiny:1', file: 'tiny-1.jar' },
};

let cacheDir: string;
let server: Server | undefined;

beforeEach(() => {
  cacheDir = mkdtempSync(join(tmpdir(), 'reprise-model-'));
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  rmSync(cacheDir, { recursive: true });
});

async function listen(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function ensure(base: string, options: EnsureOptions = {}) {
  return ensureEmbeddingModel({
    cacheDir,
    model: MODEL,
    sources: ['http'],
    env: { REPRISE_MODEL_BASE_URL: base },
    stallMs: 5_000,
    ...options,
  });
}

const filesLeft = (): string[] => {
  const folder = join(cacheDir, 'tiny');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};

const serve: RequestListener = (request, response) => {
  response.end(request.url === '/m' ? MODEL_BYTES : TOKENIZER_BYTES);
};

/** Answers the model's own request so; the tokenizer's well. */
const withModel =
  (answer: RequestListener): RequestListener =>
  (request, response) => {
    if (request.url === '/t') response.end(TOKENIZER_BYTES);
    else answer(request, response);
  };

describe('ensureEmbeddingModel over HTTP', () => {
  it('downloads both files, and finds them in the cache afterwards', async () => {
    const base = await listen(serve);
    const found = await ensure(base);
    expect(found).toMatchObject({ source: 'http', modelPath: join(cacheDir, 'tiny', 'model.onnx') });
    expect(readFileSync(join(cacheDir, 'tiny', 'model.onnx'))).toEqual(MODEL_BYTES);
    expect(await ensure('http://127.0.0.1:1')).toMatchObject({ source: 'cache' });
    expect(filesLeft()).toEqual(['model.onnx', 'tokenizer.json']);
  });

  it('follows redirects', async () => {
    const base = await listen((request, response) => {
      if (request.url?.startsWith('/real') === true)
        response.end(request.url === '/real/m' ? MODEL_BYTES : TOKENIZER_BYTES);
      else response.writeHead(302, { location: `/real${request.url}` }).end();
    });
    expect(await ensure(base)).toMatchObject({ source: 'http' });
  });

  it('fetches again what the cache has with a wrong hash', async () => {
    const base = await listen(serve);
    await ensure(base);
    writeFileSync(join(cacheDir, 'tiny', 'model.onnx'), 'damaged');
    expect(await ensure(base)).toMatchObject({ source: 'http' });
    expect(readFileSync(join(cacheDir, 'tiny', 'model.onnx'))).toEqual(MODEL_BYTES);
  });

  it('remembers the hash of the first download where none is pinned, and checks it', async () => {
    const { sha256: _pinned, ...model } = MODEL.files.model;
    const unpinned = { ...MODEL, files: { ...MODEL.files, model } };
    const base = await listen(serve);
    await ensure(base, { model: unpinned });
    expect(await ensure(base, { model: unpinned })).toMatchObject({ source: 'cache' });
    writeFileSync(join(cacheDir, 'tiny', 'model.onnx'), 'damaged');
    expect(await ensure(base, { model: unpinned })).toMatchObject({ source: 'http' });
  });

  it.each<[string, RequestListener, RegExp]>([
    ['404', (_request, response) => void response.writeHead(404).end('no'), /HTTP 404/u],
    ['500', (_request, response) => void response.writeHead(500).end('no'), /HTTP 500/u],
    ['a wrong hash', (_request, response) => void response.end('something else'), /wrong SHA-256/u],
    ['endless redirects', (_request, response) => void response.writeHead(302, { location: '/m' }).end(), /redirects/u],
    [
      'a redirect to a file',
      (_request, response) => void response.writeHead(302, { location: 'file:///etc/hosts' }).end(),
      /refused/u,
    ],
    ['a redirect to nowhere', (_request, response) => void response.writeHead(302).end(), /without a location/u],
    [
      'a declared size above the bound',
      (_request, response) => void response.writeHead(200, { 'content-length': '100001' }).end(),
      /more than 100000/u,
    ],
    [
      'a body cut short',
      (_request, response) => {
        response.writeHead(200, { 'content-length': String(MODEL_BYTES.length) });
        response.write(MODEL_BYTES.subarray(0, 500), () => response.destroy());
      },
      /cut short/u,
    ],
    [
      'a body cut short without a length',
      (_request, response) => {
        response.write(MODEL_BYTES.subarray(0, 500));
        response.end();
      },
      /wrong SHA-256/u,
    ],
    [
      'an endless body',
      (_request, response) => {
        const more = (): void =>
          void response.write(Buffer.alloc(16_384), (error) => (error == null ? more() : undefined));
        more();
      },
      /more than 100000 bytes/u,
    ],
  ])('says what is wrong and leaves no part behind: %s', async (_name, answer, reason) => {
    const found = await ensure(await listen(withModel(answer)));
    expect(found).toEqual({ unavailable: expect.stringMatching(reason) as string });
    expect(filesLeft()).toEqual(['tokenizer.json']);
  });

  it('gives up on a server that never answers', async () => {
    const base = await listen(() => undefined);
    expect(await ensure(base, { stallMs: 100 })).toEqual({ unavailable: 'http: no answer for 0.1 s' });
    expect(filesLeft()).toEqual([]);
  });

  it('gives up on a server that falls silent in the middle', async () => {
    const base = await listen(withModel((_request, response) => void response.write(MODEL_BYTES.subarray(0, 500))));
    expect(await ensure(base, { stallMs: 200 })).toEqual({ unavailable: 'http: no answer for 0.2 s' });
    expect(filesLeft()).toEqual(['tokenizer.json']);
  });

  it('gives up on a download that takes too long', async () => {
    const base = await listen(withModel((_request, response) => void response.write('x')));
    expect(await ensure(base, { totalMs: 100 })).toEqual({ unavailable: 'http: no whole file within 0.1 s' });
  });

  it('says that nobody listens', async () => {
    expect(await ensure('http://127.0.0.1:1')).toEqual({ unavailable: expect.stringContaining('http:') as string });
  });

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    const base = await listen(() => controller.abort());
    expect(await ensure(base, { signal: controller.signal })).toEqual({ unavailable: 'http: stopped' });
  });

  it('says that the cache folder cannot be made', async () => {
    writeFileSync(join(cacheDir, 'file'), '');
    const found = await ensure('http://127.0.0.1:1', { cacheDir: join(cacheDir, 'file') });
    expect(found).toEqual({ unavailable: expect.stringContaining('can’t be made'.replace('’', "'")) as string });
  });
});

describe.skipIf(process.platform === 'win32')('ensureEmbeddingModel over Maven', () => {
  /** A command that stands for Maven: copies an archive to where it is asked to, or fails. */
  function maven(archive: Buffer | undefined, script = ''): string {
    const path = join(cacheDir, 'maven.sh');
    if (archive !== undefined) writeFileSync(join(cacheDir, 'archive'), archive);
    const copy = `for a in "$@"; do case "$a" in -DoutputDirectory=*) d="\${a#*=}";; esac; done
mkdir -p "$d" && cp "${join(cacheDir, 'archive')}" "$d/tiny-1.jar"`;
    writeFileSync(path, `#!/bin/sh\n${archive === undefined ? script : copy}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  it.each(['stored', 'deflated'] as const)('takes both files out of the artifact: %s', async (method) => {
    const archive = zip({ 'other.txt': Buffer.from('x'), 'in/m.onnx': MODEL_BYTES, 't.json': TOKENIZER_BYTES }, method);
    const found = await ensure('', { sources: ['maven'], mavenCommand: maven(archive) });
    expect(found).toMatchObject({ source: 'maven' });
    expect(readFileSync(join(cacheDir, 'tiny', 'model.onnx'))).toEqual(MODEL_BYTES);
    expect(filesLeft()).toEqual(['model.onnx', 'tokenizer.json']);
  });

  it('goes on to the next source when Maven is not there', async () => {
    const base = await listen(serve);
    const mavenCommand = join(cacheDir, 'not-there');
    expect(await ensure(base, { sources: ['maven', 'http'], mavenCommand })).toMatchObject({ source: 'http' });
  });

  it.each<[string, Buffer, RegExp]>([
    ['another hash', zip({ 'in/m.onnx': Buffer.from('bad'), 't.json': TOKENIZER_BYTES }, 'deflated'), /wrong SHA-256/u],
    ['no such file', zip({ 't.json': TOKENIZER_BYTES }, 'deflated'), /has no file in\/m.onnx/u],
    ['no archive', Buffer.from('this is no archive, but long enough'), /not a zip archive/u],
    [
      'a file above the bound',
      zip({ 'in/m.onnx': MODEL_BYTES, 't.json': Buffer.alloc(2_000) }, 'deflated'),
      /more than 1000/u,
    ],
  ])('says what is wrong with the artifact: %s', async (_name, archive, reason) => {
    const found = await ensure('', { sources: ['maven'], mavenCommand: maven(archive) });
    expect(found).toEqual({ unavailable: expect.stringMatching(reason) as string });
    expect(filesLeft().filter((name) => name !== 'tokenizer.json')).toEqual([]);
  });

  it('passes on what Maven says when it fails', async () => {
    const mavenCommand = maven(undefined, 'echo "[ERROR] no such artifact" >&2; exit 1');
    expect(await ensure('', { sources: ['maven'], mavenCommand })).toEqual({
      unavailable: 'maven: Maven failed with exit code 1: [ERROR] no such artifact',
    });
  });

  it('says that Maven is not installed', async () => {
    const found = await ensure('', { sources: ['maven'], mavenCommand: 'no-such-maven-command' });
    expect(found).toEqual({ unavailable: 'maven: Maven is not installed' });
  });

  it('makes the folder of the cache', async () => {
    const archive = zip({ 'in/m.onnx': MODEL_BYTES, 't.json': TOKENIZER_BYTES }, 'deflated');
    const mavenCommand = maven(archive);
    const deep = join(cacheDir, 'a', 'b');
    mkdirSync(join(cacheDir, 'a'));
    expect(await ensure('', { sources: ['maven'], mavenCommand, cacheDir: deep })).toMatchObject({ source: 'maven' });
  });
});

/** A zip archive, written as the format says. */
function zip(files: Readonly<Record<string, Buffer>>, method: 'stored' | 'deflated'): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const packed = method === 'stored' ? content : deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method === 'stored' ? 0 : 8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), common, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 0, 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, entries, end]);
}
