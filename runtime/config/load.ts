import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { RepriseError } from '../errors.ts';
import { compile, defaultUpstreamOf } from './compile.ts';
import type { Config, Origin } from './config.ts';
import { crossCheck } from './cross-checks.ts';
import {
  environmentLayers,
  keysFromEnvironment,
  refuseUnknownVariables,
  variable,
  type Environment,
} from './environment.ts';
import { isRawObject, joinPath, mergeLayers, originOf, sourceOf, type Layer, type RawObject } from './layers.ts';
import { settingsJsonSchema, settingsSchema, type Settings, type SettingsInput } from './schema.ts';
import { nearestPath } from './suggest.ts';

/** Faults that one message lists. */
const FAULTS_MAX = 20;
const SEVERAL_DOCUMENTS =
  'the file holds several YAML documents, parted by a line "---"; settings stand in one, so remove the line or the rest.';

export interface LoadOptions {
  /** Path of the file; `false`: none is read; absent: `REPRISE_CONFIG`, else `reprise.yaml` where there is one. */
  readonly file?: string | false;
  /** Absent: the process's own. */
  readonly env?: Environment;
  /** Absent: the process's own. */
  readonly cwd?: string;
  /** Laid over all else, in the file's shape; command-line options and embedding programs. */
  readonly overrides?: SettingsInput;
}

/** The configuration of a process: defaults, file, environment, overrides, in this order. Fails with `config_invalid`. */
export function loadConfig(options: LoadOptions = {}): Config {
  const env = options.env ?? process.env;
  const cwd = options.cwd ?? process.cwd();
  const { file, shown } = findFile(options.file, env, cwd);
  const layers: Layer[] = file === '' ? [] : [{ origin: shown, values: readFile(file, shown) }];
  layers.push(...environmentLayers(env));
  if (options.overrides !== undefined) layers.push({ origin: 'override', values: options.overrides as RawObject });
  const { values, origins } = mergeLayers(layers);
  addKeys(values, origins, env);
  const settings = addUpstream(validate(values, origins, layers), origins, env);
  refuseUnknownVariables(env, namedVariables(settings));
  noteVariables(settings, origins, env);
  const config = compile(settings, { env, cwd, file, origins });
  const faults = crossCheck(config);
  if (faults.length > 0) throw new RepriseError('config_invalid', listed(faults));
  return deepFreeze(config);
}

const NO_FILE = { file: '', shown: '' };

/** Path of the file, and as people named it. */
function findFile(asked: string | false | undefined, env: Environment, cwd: string): typeof NO_FILE {
  if (asked === false) return NO_FILE;
  const named = asked ?? variable(env, 'REPRISE_CONFIG');
  const shown = named ?? 'reprise.yaml';
  const file = resolve(cwd, shown);
  if (existsSync(file)) return { file, shown };
  if (named !== undefined) throw new RepriseError('config_invalid', `The configuration file ${named} doesn't exist.`);
  return NO_FILE;
}

function readFile(path: string, shown: string): RawObject {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    const why = code === 'EISDIR' ? 'it is a folder' : code;
    throw new RepriseError('config_invalid', `The configuration file ${shown} can't be read (${why}).`, { cause });
  }
  const document = parseDocument(source, { intAsBigInt: true, prettyErrors: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const message = fault.code === 'MULTIPLE_DOCS' ? SEVERAL_DOCUMENTS : fault.message;
    throw new RepriseError('config_invalid', `${shown}: ${message}`);
  }
  let values: unknown;
  try {
    values = exactNumbers(document.toJS({ maxAliasCount: 100 }), []);
  } catch (error) {
    if (error instanceof RepriseError) throw new RepriseError('config_invalid', `${shown}: ${error.message}`);
    throw new RepriseError('config_invalid', `${shown}: too many aliases.`, { cause: error });
  }
  if (values === null || values === undefined) return {};
  if (!isRawObject(values)) throw new RepriseError('config_invalid', `${shown}: must be a mapping of settings.`);
  return values;
}

/** Whole numbers as doubles; one that a double can't hold is refused, since it would be rounded silently. */
function exactNumbers(value: unknown, path: readonly PropertyKey[]): unknown {
  if (typeof value === 'bigint') {
    if (Number.isSafeInteger(Number(value))) return Number(value);
    throw new RepriseError('config_invalid', `${joinPath(path)} ${value} can't be held exactly.`);
  }
  if (Array.isArray(value)) return value.map((item, index) => exactNumbers(item, [...path, index]));
  if (!isRawObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, exactNumbers(inner, [...path, key])]));
}

function addKeys(values: RawObject, origins: Record<string, Origin>, env: Environment): void {
  const added = keysFromEnvironment(env);
  if (added.length === 0) return;
  const identity = isRawObject(values['identity']) ? values['identity'] : {};
  const keys: unknown[] = Array.isArray(identity['keys']) ? identity['keys'] : [];
  added.forEach((_, index) => (origins[`identity.keys[${keys.length + index}]`] = 'REPRISE_API_KEYS'));
  values['identity'] = { ...identity, keys: [...keys, ...added] };
}

/** `REPRISE_UPSTREAM_URL` sets the default upstream's URL, or makes an upstream `default` where there is none. */
function addUpstream(settings: Settings, origins: Record<string, Origin>, env: Environment): Settings {
  const url = variable(env, 'REPRISE_UPSTREAM_URL');
  if (url === undefined) return settings;
  const isFirst = Object.keys(settings.upstreams).length === 0;
  const name = isFirst ? settings.defaultUpstream || 'default' : defaultUpstreamOf(settings);
  if (name === '') {
    throw new RepriseError(
      'config_invalid',
      'REPRISE_UPSTREAM_URL sets the default upstream, but several are configured and defaultUpstream names none.',
    );
  }
  const existing = settings.upstreams[name];
  const made = validate(
    { upstreams: { [name]: { ...existing, url } } },
    { [`upstreams.${name}`]: 'REPRISE_UPSTREAM_URL' },
  );
  origins[`upstreams.${name}.url`] = 'REPRISE_UPSTREAM_URL';
  return { ...settings, upstreams: { ...settings.upstreams, ...made.upstreams } };
}

/** Origins of what variables set outside the settings' own shape: credentials and the forced semantic mode. */
function noteVariables(settings: Settings, origins: Record<string, Origin>, env: Environment): void {
  origins['identity.adminToken'] = settings.identity.adminTokenEnv;
  const hasKey = variable(env, 'REPRISE_UPSTREAM_KEY') !== undefined;
  if (hasKey && settings.upstreams[defaultUpstreamOf(settings)] === undefined) {
    throw new RepriseError(
      'config_invalid',
      'REPRISE_UPSTREAM_KEY is the key of the default upstream, but there is none: set REPRISE_UPSTREAM_URL, or defaultUpstream where several are configured.',
    );
  }
  for (const [name, { apiKeyEnv }] of Object.entries(settings.upstreams)) {
    const isForced = name === defaultUpstreamOf(settings) && variable(env, 'REPRISE_UPSTREAM_KEY') !== undefined;
    if (isForced || apiKeyEnv !== '')
      origins[`upstreams.${name}.apiKey`] = isForced ? 'REPRISE_UPSTREAM_KEY' : apiKeyEnv;
  }
  if (variable(env, 'REPRISE_SEMANTIC') === undefined) return;
  for (const name of ['default', ...Object.keys(settings.namespaces)]) {
    origins[`namespaces.${name}.semantic`] = 'REPRISE_SEMANTIC';
  }
}

function namedVariables({ identity, upstreams, grid }: Settings): string[] {
  return [
    identity.adminTokenEnv,
    ...identity.keys.map((key) => key.env),
    ...Object.values(upstreams).map((upstream) => upstream.apiKeyEnv),
    ...grid.hazelcast.keys.map((key) => key.env),
  ].filter((name) => name !== '');
}

function validate(
  values: RawObject,
  origins: Readonly<Record<string, Origin>>,
  layers: readonly Layer[] = [],
): Settings {
  const result = settingsSchema.safeParse(values);
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap((issue) => describeIssue(issue, origins, layers));
  throw new RepriseError('config_invalid', listed(faults));
}

function describeIssue(
  issue: z.core.$ZodIssue,
  origins: Readonly<Record<string, Origin>>,
  layers: readonly Layer[],
): string[] {
  const origin = originOf(origins, issue.path);
  const from = origin === 'default' ? '' : ` (from ${origin})`;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const at = [...issue.path, key];
      const keyOrigin = sourceOf(layers, at) ?? originOf(origins, at);
      const nearest = nearestPath(settingsJsonSchema(), issue.path, key);
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      return `${joinPath(at)}${keyOrigin === 'default' ? '' : ` (from ${keyOrigin})`} is not a known setting${hint}`;
    });
  }
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return [`${joinPath(issue.path) || 'the file'}${from} ${message}`];
}

function listed(faults: readonly string[]): string {
  const more = faults.length - FAULTS_MAX;
  const shown = faults.slice(0, FAULTS_MAX);
  const lines = more > 0 ? [...shown, `and ${more} more`] : shown;
  return lines.length === 1
    ? `${lines[0]}${lines[0]?.endsWith('?') === true ? '' : '.'}`
    : `${lines.length} settings are wrong:\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
