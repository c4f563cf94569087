import { distance } from 'fastest-levenshtein';
import { isRawObject, joinPath, type RawObject } from './layers.ts';

/**
 * The known name nearest to a wrong one: mistyped by a letter, else with all its words and few more, else spelled likewise;
 * undefined when none is near.
 */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  return nearestSpelled(wrong, known, 1) ?? nearestWorded(wrong, known) ?? nearestSpelled(wrong, known);
}

function nearestSpelled(
  wrong: string,
  known: readonly string[],
  stepsMax = Math.max(2, Math.floor(wrong.length / 3)),
): string | undefined {
  let best: string | undefined;
  let bestDistance = stepsMax + 1;
  for (const candidate of known) {
    const steps = distance(wrong.toLowerCase(), candidate.toLowerCase());
    if (steps < bestDistance) {
      best = candidate;
      bestDistance = steps;
    }
  }
  return best;
}

/** The shortest known name that has all words of the wrong one, as `httpPort` has those of `port`. */
function nearestWorded(wrong: string, known: readonly string[]): string | undefined {
  const wanted = wordsOf(wrong);
  if (wanted.length === 0) return undefined;
  let best: string | undefined;
  let bestCount = Infinity;
  for (const candidate of known) {
    const words = wordsOf(candidate);
    if (words.length < bestCount && wanted.every((word) => words.includes(word))) {
      best = candidate;
      bestCount = words.length;
    }
  }
  return best;
}

/** Words of `camelCase`, `UPPER_CASE` and `dashed-names`, in lower case. */
function wordsOf(name: string): readonly string[] {
  const parted = name.replace(/([a-z0-9])([A-Z])/gu, '$1 $2').toLowerCase();
  return parted.split(/[^a-z0-9]+/u).filter((word) => word !== '');
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
