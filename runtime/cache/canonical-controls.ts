import { RepriseError } from '../errors.ts';
import type { CacheControls } from '../ports/service.ts';
import type { JsonObject, JsonValue } from './json.ts';

const NONE: CacheControls = Object.freeze({});
const SECONDS_MAX = 10_000_000_000;
const NAME_LENGTH_MAX = 256;

/** What the body's `cache` object asks of us, in our own words. Fails with `invalid_control` naming the member. */
export function bodyControls(tree: JsonObject): CacheControls {
  const cache = tree.get('cache');
  if (cache === undefined || cache === null) return NONE;
  if (!(cache instanceof Map)) throw refuse('cache', 'must be an object');
  const controls: { -readonly [Name in keyof CacheControls]: CacheControls[Name] } = {};
  for (const [name, value] of cache) {
    if (name === 'ttl') controls.ttlMs = milliseconds(value, name);
    else if (name === 's-maxage') controls.maxAgeMs = milliseconds(value, name);
    else if (name === 'no-cache') controls.noCache = flag(value, name);
    else if (name === 'no-store') controls.noStore = flag(value, name);
    else if (name === 'namespace') controls.namespace = nameOf(value, name);
    else throw refuse(`cache.${name}`, 'is unknown; known are ttl, s-maxage, no-cache, no-store, namespace');
  }
  return controls;
}

/** Seconds, as LiteLLM counts, in milliseconds. */
function milliseconds(value: JsonValue, name: string): number {
  if (typeof value !== 'number' || value < 0 || value > SECONDS_MAX) {
    throw refuse(`cache.${name}`, 'must be a number of seconds, 0 or more');
  }
  return Math.round(value * 1_000);
}

function flag(value: JsonValue, name: string): boolean {
  if (typeof value !== 'boolean') throw refuse(`cache.${name}`, 'must be true or false');
  return value;
}

function nameOf(value: JsonValue, name: string): string {
  if (typeof value !== 'string' || value === '' || value.length > NAME_LENGTH_MAX) {
    throw refuse(`cache.${name}`, `must be a name of 1 to ${NAME_LENGTH_MAX} characters`);
  }
  return value;
}

function refuse(param: string, problem: string): RepriseError {
  return new RepriseError('invalid_control', `\`${param.slice(0, 200)}\` ${problem}.`, { param: param.slice(0, 200) });
}
