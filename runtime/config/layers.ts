import type { Origin } from './config.ts';

/** A mapping as read from a file or built from variables, not yet validated. */
export type RawObject = Record<string, unknown>;

/** One source of settings, in the file's shape. */
export interface Layer {
  readonly origin: Origin;
  readonly values: RawObject;
}

/** True for a plain mapping: no array, no null. */
export function isRawObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The path of a member as people write it: `cache.l1`, `models[0].match`. */
export function joinPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  }
  return text;
}

/** Layers laid over each other: later ones win, mappings are merged, all else is replaced. */
export function mergeLayers(layers: readonly Layer[]): { values: RawObject; origins: Record<string, Origin> } {
  const values: RawObject = {};
  const origins: Record<string, Origin> = {};
  for (const layer of layers) mergeInto(values, layer.values, layer.origin, [], origins);
  return { values, origins };
}

function mergeInto(
  target: RawObject,
  source: RawObject,
  origin: Origin,
  path: readonly string[],
  origins: Record<string, Origin>,
): void {
  for (const [member, raw] of Object.entries(source)) {
    const at = [...path, member];
    const value = raw === null ? emptySection(path) : raw;
    if (value === undefined) continue;
    const here = Object.hasOwn(target, member) ? target[member] : undefined;
    if (isRawObject(value)) {
      const section = isRawObject(here) ? here : {};
      define(target, member, section);
      mergeInto(section, value, origin, at, origins);
    } else {
      forget(origins, joinPath(at));
      define(target, member, value);
      noteLeaves(value, at, origin, origins);
    }
  }
}

/** A name with nothing after its colon is an empty section where names are free, and says nothing elsewhere. */
function emptySection(path: readonly string[]): RawObject | undefined {
  return path.length === 1 && (path[0] === 'namespaces' || path[0] === 'domains') ? {} : undefined;
}

/** Own property, whatever its name. */
function define(target: Record<string, unknown>, member: string, value: unknown): void {
  Object.defineProperty(target, member, { value, writable: true, enumerable: true, configurable: true });
}

function forget(origins: Record<string, Origin>, path: string): void {
  for (const known of Object.keys(origins)) {
    if (known === path || known.startsWith(`${path}[`) || known.startsWith(`${path}.`)) delete origins[known];
  }
}

function noteLeaves(
  value: unknown,
  path: readonly PropertyKey[],
  origin: Origin,
  origins: Record<string, Origin>,
): void {
  define(origins, joinPath(path), origin);
  if (Array.isArray(value)) {
    value.forEach((item: unknown, index) => noteLeaves(item, [...path, index], origin, origins));
  } else if (isRawObject(value)) {
    for (const [member, inner] of Object.entries(value)) noteLeaves(inner, [...path, member], origin, origins);
  }
}

/** Origin of the longest known prefix of a path; `default` when there is none. */
export function originOf(origins: Readonly<Record<string, Origin>>, path: readonly PropertyKey[]): Origin {
  for (let length = path.length; length > 0; length -= 1) {
    const known = joinPath(path.slice(0, length));
    if (Object.hasOwn(origins, known)) return origins[known] as Origin;
  }
  return 'default';
}

/** Origin of the last layer that has a member at the path, be it a mapping; undefined when none has. */
export function sourceOf(layers: readonly Layer[], path: readonly PropertyKey[]): Origin | undefined {
  return layers.findLast(({ values }) => {
    let at: unknown = values;
    for (const part of path) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return false;
      at = (at as Record<PropertyKey, unknown>)[part];
    }
    return true;
  })?.origin;
}
