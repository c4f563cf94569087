import { RepriseError } from '../errors.ts';
import { isName, NAME_RULE, TTL_MS_MAX } from '../ports/names.ts';
import type { CacheControls } from '../ports/service.ts';
import type { JsonObject, JsonValue } from './json.ts';

const NONE: CacheControls = Object.freeze({});
const SECOND_MS = 1_000;
const TTL_WANTED = `must be a number of seconds from 0.001 to ${TTL_MS_MAX / SECOND_MS} (ten years)`;

/** What the body's `cache` object asks of us, in our own words. Fails with `invalid_control` naming the member. */
export function bodyControls(tree: JsonObject): CacheControls {
  const cache = tree.get('cache');
  if (cache === undefined || cache === null) return NONE;
  if (!(cache instanceof Map)) throw refuse('cache', 'must be an object');
  const controls: { -readonly [Name in keyof CacheControls]: CacheControls[Name] } = {};
  for (const [name, value] of cache) {
    if (name === 'ttl') controls.ttlMs = ttlMs(value);
    else if (name === 's-maxage') controls.maxAgeMs = maxAgeMs(value);
    else if (name === 'no-cache') controls.noCache = flag(value, name);
    else if (name === 'no-store') controls.noStore = flag(value, name);
    else if (name === 'namespace') controls.namespace = nameOf(value, name);
    else throw refuse(`cache.${name}`, 'is unknown; known are ttl, s-maxage, no-cache, no-store, namespace');
  }
  return controls;
}

/** Seconds, as LiteLLM counts, in whole milliseconds. */
function ttlMs(value: JsonValue): number {
  const ms = typeof value === 'number' ? Math.round(value * SECOND_MS) : 0;
  if (ms < 1 || ms > TTL_MS_MAX) throw refuse('cache.ttl', TTL_WANTED);
  return ms;
}

/** An age beyond every entry's life says as much as that life. */
function maxAgeMs(value: JsonValue): number {
  if (typeof value !== 'number' || value < 0) throw refuse('cache.s-maxage', 'must be a number of seconds, 0 or more');
  return Math.min(Math.round(value * SECOND_MS), TTL_MS_MAX);
}

function flag(value: JsonValue, name: string): boolean {
  if (typeof value !== 'boolean') throw refuse(`cache.${name}`, 'must be true or false');
  return value;
}

function nameOf(value: JsonValue, name: string): string {
  if (!isName(value)) throw refuse(`cache.${name}`, `must be a name: ${NAME_RULE}`);
  return value;
}

function refuse(param: string, problem: string): RepriseError {
  return new RepriseError('invalid_control', `\`${param.slice(0, 200)}\` ${problem}.`, { param: param.slice(0, 200) });
}
