import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Instruction, Stage } from './dockerfile.ts';
import { variablesOf } from './dockerfile.ts';

export interface RunOptions {
  /** What the engine would be sent. */
  readonly context: string;
  /** A folder for each stage is made below it, which stands for the root of its files. */
  readonly into: string;
  readonly args: Readonly<Record<string, string>>;
  /** Stages after which it ends. */
  readonly until: string;
  readonly except: readonly string[];
}

/** What running came to. */
export interface DockerfileRun {
  /** Root of a stage's files. */
  rootOf(stage: string): string;
  /** Steps that this machine can't take, one line each. */
  readonly leftOut: readonly string[];
}

const STEP_MS = 170_000;
/** Absolute paths of the image, where a command names them. */
const IMAGE_PATH = /(?<=^|[\s="'])\/(?=(?:app|build|etc|opt|var)\b)/g;

/** A text with the paths of the image below `root`. */
export function mapped(text: string, root: string): string {
  return text.replaceAll(IMAGE_PATH, `${root}/`);
}

/** Copies what git knows or would take of a clone, less what .dockerignore leaves out. */
export function makeContext(clone: string, context: string): void {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: clone });
  const isWanted = ignoreRules(readFileSync(join(clone, '.dockerignore'), 'utf8'));
  for (const path of listed.stdout.toString().split('\0')) {
    const found = path === '' ? undefined : statSync(join(clone, path), { throwIfNoEntry: false });
    if (found?.isFile() !== true || !isWanted(path)) continue;
    mkdirSync(join(context, dirname(path)), { recursive: true });
    copyFileSync(join(clone, path), join(context, path));
  }
}

/** Whether .dockerignore lets a path through: of the rules that fit, the last one counts. */
export function ignoreRules(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ wants: line.startsWith('!'), pattern: patternOf(line.replace(/^!/, '')) }));
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.wants ?? true;
}

function patternOf(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**/', '\u0000')
    .replaceAll('*', '[^/]*')
    .replaceAll('\u0000', '(?:.*/)?');
  return new RegExp(`^${source}(?:/|$)`);
}

/** Takes the steps of a Dockerfile one by one, as they stand, on folders instead of images. Throws where one fails. */
export function runDockerfile(stages: readonly Stage[], options: RunOptions): DockerfileRun {
  const leftOut: string[] = [];
  const rootOf = (stage: string): string => join(options.into, stage);
  for (const stage of stages) {
    if (options.except.includes(stage.name)) continue;
    const root = rootOf(stage.name);
    const base = stages.find(({ name }) => name === stage.base);
    mkdirSync(root, { recursive: true });
    if (base !== undefined) cpSync(rootOf(base.name), root, { recursive: true });
    const env = { ...variablesOf(stage, 'ARG'), ...options.args, ...variablesOf(stage, 'ENV') };
    let folder = root;
    for (const step of stage.instructions) {
      if (step.name === 'WORKDIR') mkdirSync((folder = join(root, step.text)), { recursive: true });
      else if (step.name === 'COPY') copy(step, { folder, root, context: options.context, rootOf });
      else if (step.name === 'RUN') leftOut.push(...runStep(step, { folder, root, env }));
    }
    if (stage.name === options.until) break;
  }
  return { rootOf, leftOut };
}

function copy(
  { text, flags, line }: Instruction,
  places: {
    readonly folder: string;
    readonly root: string;
    readonly context: string;
    readonly rootOf: (stage: string) => string;
  },
): void {
  const { folder, root, context, rootOf } = places;
  const names = text.split(/\s+/);
  const target = names.pop() ?? '';
  const from = flags['from'];
  const to = target.startsWith('/') ? join(root, target) : join(folder, target);
  for (const name of names) {
    const source = join(from === undefined ? context : rootOf(from), name);
    const found = statSync(source, { throwIfNoEntry: false });
    if (found === undefined) throw new Error(`Dockerfile:${line}: ${name} isn't in the context`);
    const isInto = target.endsWith('/') || names.length > 1;
    const path = found.isFile() && isInto ? join(to, basename(name)) : to;
    mkdirSync(found.isFile() ? dirname(path) : path, { recursive: true });
    // Links instead of copies: nothing writes to what a stage took from another.
    const linked = spawnSync('cp', ['-al', found.isFile() ? source : `${source}/.`, path]);
    if (linked.status !== 0) cpSync(source, path, { recursive: true });
  }
}

/** Whether a program can be run here. */
export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** Takes one step; gives a line where it could not be taken whole. */
function runStep(
  { text, line }: Instruction,
  { folder, root, env }: { readonly folder: string; readonly root: string; readonly env: Record<string, string> },
): string[] {
  const program = text.split(' ')[0] ?? '';
  if (!hasProgram(program)) return [`RUN ${text} (there is no ${program})`];
  const isRoot = process.getuid?.() === 0;
  const command = isRoot ? text : text.replaceAll(/ -[og] \d+/g, '');
  const { status, stdout, stderr, error } = spawnSync('sh', ['-c', mapped(command, root)], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: undefined, ...env },
    timeout: STEP_MS,
    maxBuffer: 64 * 1_024 * 1_024,
  });
  if (status !== 0) {
    const why = error?.message ?? `${stdout.toString()}${stderr.toString()}`.trim().slice(-2_000);
    throw new Error(`Dockerfile:${line}: RUN ${text} failed:\n${why}`);
  }
  return command === text ? [] : [`owners of RUN ${text} (this isn't root)`];
}
