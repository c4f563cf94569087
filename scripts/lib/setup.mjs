import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the repository. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

const NODE_MIN = [20, 20];
const BUILT_FOLDERS = ['runtime', 'grid', 'simulation', 'evaluation', 'clients', 'proto'];
const ASSET = /\.(binpb|proto|json|html|css|svg)$/;
const STAMP = join('dist', '.stamp.json');
const LOCK_WAIT_MS = 15 * 60_000;
const PROGRESS_MS = 5_000;
const REPEAT_MS = 30_000;
const INTERRUPTED_EXIT_CODE = 130;
const RETRY_MODEL_MS = 15 * 60_000;

/** What is wrong with this Node.js; undefined when it will do. */
export function nodeProblem(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return undefined;
  return `Reprise needs Node.js ${NODE_MIN.join('.')} or newer, and this is ${version}. Install it from https://nodejs.org and try again.`;
}

/** A logger of step lines with the seconds since its making; everything goes to stderr, results own stdout. */
export function stepLog(startedMs = performance.now()) {
  return (line) => {
    const elapsed = ((performance.now() - startedMs) / 1_000).toFixed(1).padStart(6);
    process.stderr.write(`[${elapsed} s] ${line}\n`);
  };
}

/** True when node_modules holds exactly what package-lock.json asks for; npm writes its own list last, so a torn install shows. */
export function areDependenciesInstalled(root = ROOT) {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const present = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    if (path === '') continue;
    const there = present[path];
    if (there === undefined ? optional !== true : there.version !== version || there.integrity !== integrity)
      return false;
    // npm's list outlives an installation that was broken off and taken back.
    if (there !== undefined && !existsSync(join(root, path, 'package.json'))) return false;
  }
  return Object.keys(present).every((path) => wanted[path] !== undefined);
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

async function installDependencies({ root, log, env }) {
  const count = Object.keys(readPackages(join(root, 'package-lock.json')) ?? {}).length;
  log(`Installing packages (npm ci, up to ${count}) …`);
  const npm = env['npm_execpath'];
  const asScript = npm !== undefined && /npm-cli\.c?js$/.test(npm);
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const news = newsOnly(log);
  const timer = setInterval(() => news(`  … ${countPackages(root)} packages are there`), PROGRESS_MS);
  try {
    const options = {
      cwd: root,
      env: { ...env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
      shell: !asScript && process.platform === 'win32',
    };
    const result = await untilTidy(log, (onSpawn) =>
      run(asScript ? process.execPath : 'npm', asScript ? [npm, ...args] : args, { ...options, onSpawn }),
    );
    if (result.code !== 0) throw new Error(`npm ci failed:\n${result.output.trim()}`);
  } finally {
    clearInterval(timer);
  }
  log('Packages are installed.');
}

/** A logger that leaves out a line which says what the last one said, unless that is half a minute ago. */
export function newsOnly(log, now = () => performance.now()) {
  let last = '';
  let lastMs = 0;
  return (line) => {
    const nowMs = now();
    if (line === last && nowMs - lastMs < REPEAT_MS) return;
    last = line;
    lastMs = nowMs;
    log(line);
  };
}

function countPackages(root) {
  try {
    return readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.')).length;
  } catch {
    return 0;
  }
}

/** Runs work that must not be left behind: at a signal its child is told and waited for, then the process ends. */
async function untilTidy(log, work) {
  let child;
  let interrupted = false;
  const onSignal = (signal) => {
    if (!interrupted) log('Interrupted; waiting for npm to take back what it began …');
    interrupted = true;
    child?.kill(signal);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const result = await work((spawned) => (child = spawned));
    if (interrupted) process.exit(INTERRUPTED_EXIT_CODE);
    return result;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** Runs a program to its end and gives its exit code and output; stdin is closed. */
export function run(command, args, { cwd, env = process.env, shell = false, onSpawn = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    onSpawn(child);
    const parts = [];
    child.stdout.on('data', (part) => parts.push(part));
    child.stderr.on('data', (part) => parts.push(part));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 1, signal, output: Buffer.concat(parts).toString('utf8') }),
    );
  });
}

/** Paths below the built folders, from the root, with forward slashes, sorted. */
function sourcePaths(root) {
  const paths = [];
  for (const folder of BUILT_FOLDERS) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder), { recursive: true })) {
      const path = `${folder}/${String(name).split(sep).join('/')}`;
      const isBuilt = (path.endsWith('.ts') && !path.endsWith('.test.ts')) || ASSET.test(path);
      if (isBuilt && !path.startsWith('grid/conformance/') && statSync(join(root, path)).isFile()) paths.push(path);
    }
  }
  return paths.sort();
}

/** Hash of everything that the build reads, and the paths of its sources. */
export function sourceState(root = ROOT) {
  const paths = sourcePaths(root);
  const hash = createHash('sha256');
  for (const path of [...paths, 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return { hash: hash.digest('hex'), paths };
}

function readStamp(root) {
  try {
    return JSON.parse(readFileSync(join(root, STAMP), 'utf8'));
  } catch {
    return { hash: '', paths: [] };
  }
}

async function build({ root, log }) {
  const state = sourceState(root);
  const stamp = readStamp(root);
  if (stamp.hash === state.hash) return;
  log('Building …');
  const left = new Set(state.paths);
  if (stamp.paths.some((path) => !left.has(path))) rmSync(join(root, 'dist'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const result = await run(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root });
  if (result.code !== 0) throw new Error(`The build failed:\n${result.output.trim()}`);
  for (const path of state.paths.filter((name) => ASSET.test(name))) {
    mkdirSync(dirname(join(root, 'dist', path)), { recursive: true });
    cpSync(join(root, path), join(root, 'dist', path));
  }
  writeFileSync(join(root, STAMP), JSON.stringify(state));
  log('Built.');
}

async function fetchModel({ root, log, env }) {
  if (env['REPRISE_SEMANTIC'] === 'off') return { unavailable: 'REPRISE_SEMANTIC is off' };
  const dataDir = env['REPRISE_DATA_DIR'] || join(root, '.reprise');
  const note = join(dataDir, 'model-unavailable.json');
  const baseUrl = env['REPRISE_MODEL_BASE_URL'] ?? '';
  const tried = readFailure(note, baseUrl);
  try {
    const { ensureEmbeddingModel } = await import('./embedding-model.mjs');
    // Soon after a failure only the cache is asked, so that a start without a network is quick.
    const sources = tried === undefined ? {} : { sources: [] };
    const found = await ensureEmbeddingModel({ cacheDir: join(dataDir, 'models'), log, env, ...sources });
    if (!('unavailable' in found)) rmSync(note, { force: true });
    else if (tried === undefined) {
      noteFailure(note, { reason: found.unavailable, baseUrl });
      log(`No embedding model: ${found.unavailable}`);
    } else log(`No embedding model: ${tried} (to try again now, remove ${note})`);
    return tried !== undefined && 'unavailable' in found ? { unavailable: tried } : found;
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/** Why the model could not be had a short while ago; undefined when it is time to try. */
function readFailure(note, baseUrl) {
  try {
    const { reason, atMs, baseUrl: from } = JSON.parse(readFileSync(note, 'utf8'));
    const ageMs = Date.now() - atMs;
    return from === baseUrl && ageMs >= 0 && ageMs < RETRY_MODEL_MS ? String(reason) : undefined;
  } catch {
    return undefined;
  }
}

function noteFailure(note, failure) {
  mkdirSync(dirname(note), { recursive: true });
  writeFileSync(note, JSON.stringify({ ...failure, atMs: Date.now() }));
}

/** Runs `work` while no other set-up of this clone does; a lock whose owner is gone is taken over. */
async function withLock(root, log, work) {
  const lock = join(root, '.reprise', 'setup.lock');
  mkdirSync(dirname(lock), { recursive: true });
  const giveUpAtMs = performance.now() + LOCK_WAIT_MS;
  for (let told = false; ; told = true) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isOwned(lock)) rmSync(lock, { force: true });
    else if (performance.now() > giveUpAtMs)
      throw new Error(`Another set-up holds ${lock}; remove the file if none runs.`);
    else {
      if (!told) log('Waiting for another set-up of this clone …');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const release = () => rmSync(lock, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

function isOwned(lock) {
  let owner;
  try {
    owner = Number(readFileSync(lock, 'utf8'));
  } catch {
    return false;
  }
  if (!Number.isInteger(owner) || owner <= 0)
    return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 5_000;
  try {
    process.kill(owner, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Makes a clone ready: packages, embedding model, build; quick when it is. Throws an Error whose message is for people.
 * An installed package (without sources) is ready as it is.
 */
export async function setUp({ root = ROOT, log = stepLog(), env = process.env, model = true } = {}) {
  const problem = nodeProblem();
  if (problem !== undefined) throw new Error(problem);
  if (!existsSync(join(root, 'tsconfig.build.json'))) return { model: { unavailable: 'not a clone' } };
  return await withLock(root, log, async () => {
    if (!areDependenciesInstalled(root)) await installDependencies({ root, log, env });
    const found = model ? await fetchModel({ root, log, env }) : { unavailable: 'not asked for' };
    await build({ root, log });
    return { model: found };
  });
}

/** Prints a failed set-up the way that people can use, and ends the process with exit code 1. */
export function failSetUp(error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
