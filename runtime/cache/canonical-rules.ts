import { RE2JS } from 're2js';
import { RepriseError } from '../errors.ts';
import type { BlankRule } from '../ports/options.ts';
import { fromPlain, type JsonObject } from './json.ts';

/** What the configuration says of a request: how its model is served and what its key must not see. Immutable. */
export interface RequestRules {
  /** Names the rules; for messages only. */
  readonly id: string;
  readonly model: {
    /** Name to ask the upstream for; empty: as asked. */
    readonly as: string;
    readonly defaults: Readonly<Record<string, unknown>>;
    readonly overrides: Readonly<Record<string, unknown>>;
  };
  readonly blank: readonly BlankRule[];
  /** Counts the body's `user` into key and scope. */
  readonly isolateUser: boolean;
  /** False spares the scope's hash where nothing is reused semantically. Default true. */
  readonly scoped?: boolean;
}

/** Rules made ready for use. */
export interface CompiledRules {
  readonly as: string;
  readonly defaults: JsonObject;
  readonly overrides: JsonObject;
  /** Blanks a string value; undefined when there is nothing to blank. */
  readonly blank: ((text: string) => string) | undefined;
  readonly isolateUser: boolean;
  readonly scoped: boolean;
}

const PATTERN_LENGTH_MAX = 1_000;
const BLANK_RULES_MAX = 32;

/** UTF-16 code units. Longer text is left as it is: a rule's time grows with the text's length. */
const BLANKED_LENGTH_MAX = 16_384;

/** Places in one text. Each match begins a scan of its own, so the time grows with their number times the text's length. */
const PLACES_MAX = 64;

/** Instructions of a compiled pattern; each may be tried at every character. */
const PROGRAM_SIZE_MAX = 1_000;

const compiled = new WeakMap<RequestRules, CompiledRules>();

/** Rules made ready, once for each rules object. Fails with `config_invalid`. */
export function compileRules(rules: RequestRules): CompiledRules {
  const known = compiled.get(rules);
  if (known !== undefined) return known;
  const made: CompiledRules = {
    as: rules.model.as,
    defaults: plainObject(rules.model.defaults, 'defaults'),
    overrides: plainObject(rules.model.overrides, 'overrides'),
    blank: compileBlankRules(rules.blank),
    isolateUser: rules.isolateUser,
    scoped: rules.scoped ?? true,
  };
  compiled.set(rules, made);
  return made;
}

/**
 * One function for all blank rules, applied in order; undefined for none. Patterns are in RE2's syntax; one search takes time
 * linear in the text. Text longer than 16 KiB (16,384 UTF-16 code units), or with more than 64 places to blank, comes back as
 * it is. Fails with `config_invalid` on a
 * pattern that `blankPatternProblem` finds fault with.
 */
export function compileBlankRules(rules: readonly BlankRule[]): ((text: string) => string) | undefined {
  if (rules.length === 0) return undefined;
  if (rules.length > BLANK_RULES_MAX) throw invalid(`There are more than ${BLANK_RULES_MAX} blank rules.`);
  const steps = rules.map(({ pattern, replacement }) => {
    const problem = blankPatternProblem(pattern);
    if (problem !== undefined) throw invalid(`The blank pattern /${pattern}/ ${problem}.`);
    return { pattern: RE2JS.compile(pattern), replacement };
  });
  return (text) => {
    if (text.length > BLANKED_LENGTH_MAX) return text;
    let out = text;
    let left = PLACES_MAX;
    for (const { pattern, replacement } of steps) {
      const blanked = blank(out, pattern, replacement, left);
      if (blanked === undefined) return text;
      out = blanked.text;
      left -= blanked.places;
    }
    return out;
  };
}

/** Undefined when there are more places than `placesMax`. A match of nothing is no place. */
function blank(
  text: string,
  pattern: RE2JS,
  replacement: string,
  placesMax: number,
): { readonly text: string; readonly places: number } | undefined {
  const matcher = pattern.matcher(text);
  let out = '';
  let from = 0;
  let places = 0;
  for (let found = 0; matcher.find(); found += 1) {
    if (found >= placesMax) return undefined;
    if (matcher.end() === matcher.start()) continue;
    out += text.slice(from, matcher.start()) + replacement;
    from = matcher.end();
    places += 1;
  }
  return { text: out + text.slice(from), places };
}

/** Texts in which every pattern of nothing fits somewhere. */
const PROBES = ['', 'a', 'a b', '1 a\n2'];

/** Why a pattern can't blank, as the end of a sentence; undefined when it can. */
export function blankPatternProblem(source: string): string | undefined {
  if (source.length > PATTERN_LENGTH_MAX) return `is longer than ${PATTERN_LENGTH_MAX} characters`;
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(source);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : 'unknown';
    return `is not a regular expression of RE2 (${why})`;
  }
  if (PROBES.some((probe) => fitsNothing(pattern, probe)))
    return 'fits the empty text, so it would blank nothing or all';
  return pattern.programSize() > PROGRAM_SIZE_MAX ? 'repeats too much; write it shorter' : undefined;
}

function fitsNothing(pattern: RE2JS, text: string): boolean {
  const matcher = pattern.matcher(text);
  while (matcher.find()) if (matcher.end() === matcher.start()) return true;
  return false;
}

function plainObject(value: Readonly<Record<string, unknown>>, what: string): JsonObject {
  const object = fromPlain(value);
  if (!(object instanceof Map)) throw invalid(`A model's ${what} must be an object.`);
  return object;
}

function invalid(message: string): RepriseError {
  return new RepriseError('config_invalid', message);
}
