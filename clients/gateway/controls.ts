import { RepriseError } from '../../runtime/errors.ts';
import { isName, NAME_RULE, TTL_MS_MAX } from '../../runtime/ports/names.ts';
import type { CacheControls } from '../../runtime/ports/service.ts';

/** Cache controls as they came over a wire, types right and values not checked yet. */
export type ControlFields = { readonly [Name in keyof CacheControls]?: CacheControls[Name] | undefined };

/** How an edge calls each control; an error names the caller's own spelling. */
export type ControlNames = Readonly<Record<keyof CacheControls, string>>;

/** The headers that carry the controls over HTTP. */
export const CONTROL_HEADERS: ControlNames = {
  namespace: 'x-reprise-namespace',
  domain: 'x-reprise-domain',
  bucket: 'x-reprise-bucket',
  tags: 'x-reprise-tags',
  ttlMs: 'x-reprise-ttl',
  maxAgeMs: 'cache-control',
  threshold: 'x-reprise-threshold',
  noCache: 'cache-control',
  noStore: 'cache-control',
  onlyIfCached: 'cache-control',
};

/** The fields that carry the controls over gRPC. */
export const CONTROL_FIELDS: ControlNames = {
  namespace: 'namespace',
  domain: 'domain',
  bucket: 'bucket',
  tags: 'tags',
  ttlMs: 'ttl_ms',
  maxAgeMs: 'max_age_ms',
  threshold: 'threshold',
  noCache: 'no_cache',
  noStore: 'no_store',
  onlyIfCached: 'only_if_cached',
};

/** Most tags of one request. */
export const TAGS_MAX = 16;
/** Highest sampling bucket that a caller may name. */
export const BUCKET_MAX = 65_535;

/** Controls of a request that asks for nothing. */
export const NO_CONTROLS: CacheControls = Object.freeze({});

const WHOLE_NUMBER = /^[0-9]{1,15}$/;
const DURATION = /^([0-9]{1,15})(ms|s|m|h|d)?$/;
const DECIMAL = /^(?:[0-9]{1,3}(?:\.[0-9]{0,17})?|\.[0-9]{1,17})$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function invalid(param: string, message: string): RepriseError {
  return new RepriseError('invalid_control', `${param}: ${message}`, { param });
}

/** The name itself when it is one: 1 to 128 of letters, digits and `._:-`. Throws `invalid_control`. */
export function checkedName(value: string, param: string): string {
  if (!isName(value)) throw invalid(param, `a name has ${NAME_RULE}`);
  return value;
}

function checkedTags(tags: readonly string[], param: string): readonly string[] {
  if (tags.length > TAGS_MAX) throw invalid(param, `at most ${TAGS_MAX} tags`);
  for (const tag of tags) checkedName(tag, param);
  return [...new Set(tags)].sort();
}

function checkedTtlMs(value: number, param: string): number {
  if (!(value >= 1 && value <= TTL_MS_MAX)) throw invalid(param, 'must lie between 1 ms and ten years');
  return value;
}

/** An age beyond every entry's life says as much as that life. */
function checkedMaxAgeMs(value: number, param: string): number {
  if (!(value >= 0)) throw invalid(param, 'an age is 0 or more');
  return Math.min(value, TTL_MS_MAX);
}

function checkedBucket(value: number, param: string): number {
  if (!Number.isInteger(value) || value < 0 || value > BUCKET_MAX) {
    throw invalid(param, `a bucket is a whole number from 0 to ${BUCKET_MAX}`);
  }
  return value;
}

function checkedThreshold(value: number, param: string): number {
  if (!(value >= 0 && value <= 1)) throw invalid(param, 'a threshold lies between 0 and 1');
  return value;
}

/** Controls with every value checked; tags sorted and without doubles. Throws `invalid_control` naming the field at fault. */
export function checkedControls(fields: ControlFields, names: ControlNames = CONTROL_FIELDS): CacheControls {
  const { namespace, domain, bucket, tags, ttlMs, maxAgeMs, threshold, noCache, noStore, onlyIfCached } = fields;
  return {
    ...(namespace !== undefined && { namespace: checkedName(namespace, names.namespace) }),
    ...(domain !== undefined && { domain: checkedName(domain, names.domain) }),
    ...(bucket !== undefined && { bucket: checkedBucket(bucket, names.bucket) }),
    ...(tags !== undefined && tags.length > 0 && { tags: checkedTags(tags, names.tags) }),
    ...(ttlMs !== undefined && { ttlMs: checkedTtlMs(ttlMs, names.ttlMs) }),
    ...(maxAgeMs !== undefined && { maxAgeMs: checkedMaxAgeMs(maxAgeMs, names.maxAgeMs) }),
    ...(threshold !== undefined && { threshold: checkedThreshold(threshold, names.threshold) }),
    ...(noCache === true && { noCache }),
    ...(noStore === true && { noStore }),
    ...(onlyIfCached === true && { onlyIfCached }),
  };
}

/** Milliseconds of `90` (seconds), `500ms`, `30s`, `15m`, `2h` or `7d`. Throws `invalid_control`. */
export function parseDurationMs(text: string, param: string): number {
  const match = DURATION.exec(text.trim());
  if (match === null)
    throw invalid(param, 'a time is a whole number of seconds, or has a unit: 500ms, 30s, 15m, 2h, 7d');
  return Number(match[1]) * (UNIT_MS[match[2] ?? 's'] ?? 1_000);
}

function parseDecimal(text: string, param: string): number {
  if (!DECIMAL.test(text.trim())) throw invalid(param, 'must be a decimal number');
  return Number(text);
}

function parseWholeNumber(text: string, param: string): number {
  if (!WHOLE_NUMBER.test(text.trim())) throw invalid(param, 'must be a whole number');
  return Number(text);
}

function parseDeltaSecondsMs(text: string | undefined): number {
  if (text === undefined || !/^[0-9]+$/.test(text)) {
    throw invalid(CONTROL_HEADERS.maxAgeMs, 'max-age takes a whole number of seconds');
  }
  return Number(text) * 1_000;
}

interface Directive {
  readonly name: string;
  readonly argument: string | undefined;
}

/** Splits `name[=token|"quoted"]` parts at commas outside quotes; a quote that never closes takes the rest. */
function splitDirectives(header: string): readonly Directive[] {
  const directives: Directive[] = [];
  let start = 0;
  let quoted = false;
  for (let index = 0; index <= header.length; index += 1) {
    const character = header[index];
    if (quoted && character === '\\') index += 1;
    else if (character === '"') quoted = !quoted;
    if (index < header.length && (quoted || character !== ',')) continue;
    const part = header.slice(start, index).trim();
    start = index + 1;
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
    const text = equals < 0 ? undefined : part.slice(equals + 1).trim();
    const isQuoted = text !== undefined && text.length >= 2 && text.startsWith('"') && text.endsWith('"');
    directives.push({ name, argument: isQuoted ? text.slice(1, -1) : text });
  }
  return directives;
}

interface CacheControlFields {
  maxAgeMs?: number;
  noCache?: boolean;
  noStore?: boolean;
  onlyIfCached?: boolean;
}

/** The request directives of a `Cache-Control` header that we obey; unknown ones are ignored, of two `max-age` the stricter counts. */
export function parseCacheControl(header: string): CacheControlFields {
  const fields: CacheControlFields = {};
  for (const { name, argument } of splitDirectives(header)) {
    if (name === 'no-cache') fields.noCache = true;
    else if (name === 'no-store') fields.noStore = true;
    else if (name === 'only-if-cached') fields.onlyIfCached = true;
    else if (name === 'max-age') {
      fields.maxAgeMs = Math.min(fields.maxAgeMs ?? Infinity, parseDeltaSecondsMs(argument));
    }
  }
  return fields;
}

/** Request headers, lower-case names, as Node hands them over. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One header's text; repeated ones joined by commas, so that a doubled single-valued control is refused by its own check. */
export function headerText(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}

function parseTags(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  return text
    .split(',', TAGS_MAX + 2)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** The controls that a request's headers ask for. Throws `invalid_control` naming the header at fault. */
export function controlsFromHeaders(headers: RequestHeaders): CacheControls {
  const cacheControl = headerText(headers, 'cache-control');
  const namespace = headerText(headers, CONTROL_HEADERS.namespace);
  const domain = headerText(headers, CONTROL_HEADERS.domain);
  const bucket = headerText(headers, CONTROL_HEADERS.bucket);
  const tags = headerText(headers, CONTROL_HEADERS.tags);
  const ttl = headerText(headers, CONTROL_HEADERS.ttlMs);
  const threshold = headerText(headers, CONTROL_HEADERS.threshold);
  if (
    cacheControl === undefined &&
    namespace === undefined &&
    domain === undefined &&
    bucket === undefined &&
    tags === undefined &&
    ttl === undefined &&
    threshold === undefined
  ) {
    return NO_CONTROLS;
  }
  return checkedControls(
    {
      ...(cacheControl !== undefined && parseCacheControl(cacheControl)),
      namespace,
      domain,
      tags: parseTags(tags),
      bucket: bucket === undefined ? undefined : parseWholeNumber(bucket, CONTROL_HEADERS.bucket),
      ttlMs: ttl === undefined ? undefined : parseDurationMs(ttl, CONTROL_HEADERS.ttlMs),
      threshold: threshold === undefined ? undefined : parseDecimal(threshold, CONTROL_HEADERS.threshold),
    },
    CONTROL_HEADERS,
  );
}
