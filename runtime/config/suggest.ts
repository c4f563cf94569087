import { distance } from 'fastest-levenshtein';
import { isRawObject, joinPath, type RawObject } from './layers.ts';

/** The known name nearest to a mistyped one; undefined when none is near. */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wrong.length / 3)) + 1;
  for (const candidate of known) {
    const steps = distance(wrong.toLowerCase(), candidate.toLowerCase());
    if (steps < bestDistance) {
      best = candidate;
      bestDistance = steps;
    }
  }
  return best;
}

/** What a person probably meant by an unknown key: a sibling's path, or the same name in another section. */
export function nearestPath(schema: RawObject, path: readonly PropertyKey[], key: string): string | undefined {
  const node = schemaAt(schema, path);
  const sibling = nearestName(key, node === undefined ? [] : Object.keys(properties(node)));
  if (sibling !== undefined) return joinPath([...path, sibling]);
  return fixedPaths(schema, []).find((known) => known === key || known.endsWith(`.${key}`));
}

function properties(node: RawObject): RawObject {
  return isRawObject(node['properties']) ? node['properties'] : {};
}

function schemaAt(schema: RawObject, path: readonly PropertyKey[]): RawObject | undefined {
  let node: RawObject = schema;
  for (const part of path) {
    const next =
      typeof part === 'number' ? node['items'] : (properties(node)[String(part)] ?? node['additionalProperties']);
    if (!isRawObject(next)) return undefined;
    node = next;
  }
  return node;
}

function fixedPaths(node: RawObject, path: readonly string[]): string[] {
  return Object.entries(properties(node)).flatMap(([member, inner]) => {
    const at = [...path, member];
    return isRawObject(inner) ? [joinPath(at), ...fixedPaths(inner, at)] : [joinPath(at)];
  });
}
