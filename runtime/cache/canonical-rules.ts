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
 * One function for all blank rules, applied in order; undefined for none. Fails with `config_invalid` on a pattern
 * that doesn't compile, matches the empty string, refers back, or repeats a repetition or a choice (its time could explode).
 */
export function compileBlankRules(rules: readonly BlankRule[]): ((text: string) => string) | undefined {
  if (rules.length === 0) return undefined;
  if (rules.length > BLANK_RULES_MAX) throw invalid(`There are more than ${BLANK_RULES_MAX} blank rules.`);
  const steps = rules.map((rule) => ({ pattern: compilePattern(rule.pattern), replacement: rule.replacement }));
  return (text) => {
    let out = text;
    for (const { pattern, replacement } of steps) out = out.replace(pattern, () => replacement);
    return out;
  };
}

function compilePattern(source: string): RegExp {
  if (source.length > PATTERN_LENGTH_MAX) throw invalid('A blank pattern is too long.');
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, 'gu');
  } catch (cause) {
    throw new RepriseError('config_invalid', `The blank pattern /${source}/ is not a regular expression.`, { cause });
  }
  if (new RegExp(source, 'u').test('')) throw invalid(`The blank pattern /${source}/ matches the empty string.`);
  if (/\\[1-9]|\\k</.test(source) || repeatsRepetition(source)) {
    throw invalid(`The blank pattern /${source}/ refers back, or repeats a repetition or a choice; write it without.`);
  }
  return pattern;
}

/** True when a group that holds an unbounded repetition, or alternatives, is itself repeated without bound. */
function repeatsRepetition(source: string): boolean {
  const groups: boolean[] = [];
  let risky = false;
  let inClass = false;
  for (let i = 0; i < source.length; i++) {
    const c = source.charAt(i);
    if (c === '\\') i++;
    else if (inClass) inClass = c !== ']';
    else if (c === '[') inClass = true;
    else if (c === '(') {
      groups.push(risky);
      risky = false;
    } else if (c === ')') {
      if (risky && isUnbounded(source, i + 1)) return true;
      risky ||= groups.pop() ?? false;
    } else if (c === '|' || isUnbounded(source, i)) risky = true;
  }
  return false;
}

/** True when an unbounded quantifier, or one that allows hundreds of rounds, stands at `at`. */
function isUnbounded(source: string, at: number): boolean {
  return /^(?:[*+]|\{\d*,\}|\{\d*,?\d{3,}\})/.test(source.slice(at, at + 24));
}

function plainObject(value: Readonly<Record<string, unknown>>, what: string): JsonObject {
  const object = fromPlain(value);
  if (!(object instanceof Map)) throw invalid(`A model's ${what} must be an object.`);
  return object;
}

function invalid(message: string): RepriseError {
  return new RepriseError('config_invalid', message);
}
