import { RepriseError } from '../errors.ts';
import { type JsonObject, parseJson } from '../cache/json.ts';

const ANSWER_DEPTH_MAX = 512;

/**
 * An answer, or one event of it, taken apart without loss; undefined when it isn't a JSON object. Texts may be cut
 * between the halves of a surrogate pair, so halves are kept until the pieces are joined.
 */
export function readAnswerObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseJson(bytes, { depthMax: ANSWER_DEPTH_MAX, loneSurrogates: 'keep' });
    return value instanceof Map ? value : undefined;
  } catch (error) {
    if (error instanceof RepriseError) return undefined;
    throw error;
  }
}
