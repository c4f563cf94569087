import { z } from 'zod';
import { parseBytes, parseDurationMs } from './units.ts';

interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** Longest duration that a timer holds, milliseconds. */
const TIMER_MS_MAX = 2_147_483_647;

/** Pattern of the names that become part of keys, ledger names and labels. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A name of a tenant, namespace, domain or upstream. */
export const name = z
  .string()
  .regex(NAME, 'must be a name: letters, digits, ".", "_" or "-", beginning with a letter or digit, 64 at most');

/** A duration field in milliseconds, also written as a text with its unit. */
export function durationMs(doc: string, fallback: number, { min = 0, max = TIMER_MS_MAX }: Range = {}) {
  return z
    .union([z.number(), z.string()])
    .transform((value, context): number => {
      const ms = typeof value === 'number' ? value : parseDurationMs(value);
      if (ms !== undefined && Number.isInteger(ms) && ms >= min && ms <= max) return ms;
      context.issues.push({
        code: 'custom',
        input: value,
        message: `must be a whole number of milliseconds from ${min} to ${max}, or a text such as "500ms", "30s", "24h"`,
      });
      return z.NEVER;
    })
    .default(fallback)
    .meta({ description: doc, default: fallback, minimum: min, maximum: max });
}

/** A size field in bytes, also written as a text with its unit. */
export function bytes(doc: string, fallback: number, { min = 0, max = Number.MAX_SAFE_INTEGER }: Range = {}) {
  return z
    .union([z.number(), z.string()])
    .transform((value, context): number => {
      const size = typeof value === 'number' ? value : parseBytes(value);
      if (size !== undefined && Number.isInteger(size) && size >= min && size <= max) return size;
      context.issues.push({
        code: 'custom',
        input: value,
        message: `must be a whole number of bytes from ${min} to ${max}, or a text such as "512KiB", "128MiB"`,
      });
      return z.NEVER;
    })
    .default(fallback)
    .meta({ description: doc, default: fallback, minimum: min, maximum: max });
}

/** A whole-number field. */
export function count(doc: string, fallback: number, { min = 0, max = 1_000_000_000 }: Range = {}) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message).default(fallback).describe(doc);
}

/** A field in [0, 1]. */
export function fraction(doc: string, fallback: number) {
  const message = 'must be a number from 0 to 1';
  return z.number(message).min(0, message).max(1, message).default(fallback).describe(doc);
}

/** A yes-or-no field. */
export function flag(doc: string, fallback: boolean) {
  return z.boolean('must be true or false').default(fallback).describe(doc);
}

/** A text field. */
export function text(doc: string, fallback: string, charsMax = 1_024) {
  return z.string('must be a text').max(charsMax).default(fallback).describe(doc);
}

/** A field that takes one of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(
  doc: string,
  words: Words,
  fallback: Words[number],
) {
  return z
    .enum(words, `must be one of ${words.join(', ')}`)
    .default(fallback as never)
    .describe(doc);
}
