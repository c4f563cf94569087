/** What a namespace, domain or tag may be called, in words for a refusal. */
export const NAME_RULE = '1 to 128 letters, digits and any of . _ : -';

/** Longest time to live that a caller may ask for: ten years. */
export const TTL_MS_MAX = 315_360_000_000;

const NAME = /^[A-Za-z0-9._:-]{1,128}$/;

/** True for what every way in takes as the name of a namespace, domain or tag, so that a name which one takes reaches all. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}
