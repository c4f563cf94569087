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

/** UTF-16 code units. Longer text is left as it is: a rule's time may grow with the square of the text's length. */
const BLANKED_LENGTH_MAX = 16_384;

/** Rounds that a group may have whose match varies in length; each round multiplies the ways to match it. */
const VARYING_ROUNDS_MAX = 8;

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
 * One function for all blank rules, applied in order; undefined for none. Text longer than 16 KiB (16,384 UTF-16 code
 * units) comes back as it is. Fails with `config_invalid` on a pattern that doesn't compile, matches the empty string,
 * refers back, or repeats a repetition, a choice or an optional part more than 8 times (its time could explode).
 */
export function compileBlankRules(rules: readonly BlankRule[]): ((text: string) => string) | undefined {
  if (rules.length === 0) return undefined;
  if (rules.length > BLANK_RULES_MAX) throw invalid(`There are more than ${BLANK_RULES_MAX} blank rules.`);
  const steps = rules.map((rule) => ({ pattern: compilePattern(rule.pattern), replacement: rule.replacement }));
  return (text) => {
    if (text.length > BLANKED_LENGTH_MAX) return text;
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

/** A group of a pattern, as far as it is read. */
interface Group {
  /** Its matches may differ in length, or be found in several ways. */
  varies: boolean;
  /** The most rounds of a varying part in it: nested groups multiply. */
  rounds: number;
}

/** True when a group that holds a repetition, an optional part or alternatives is itself repeated too often. */
function repeatsRepetition(source: string): boolean {
  const outer: Group[] = [];
  let group: Group = { varies: false, rounds: 1 };
  let inClass = false;
  for (let i = 0; i < source.length; i++) {
    const c = source.charAt(i);
    if (c === '\\') i++;
    else if (inClass) inClass = c !== ']';
    else if (c === '[') inClass = true;
    else if (c === '(') {
      outer.push(group);
      group = { varies: false, rounds: 1 };
      // What follows, as in `(?:`, is the group's kind.
      if (source.charAt(i + 1) === '?') i++;
    } else if (c === ')') {
      const rounds = group.varies ? group.rounds * quantifierAt(source, i + 1).max : 1;
      if (rounds > VARYING_ROUNDS_MAX) return true;
      const around = outer.pop() ?? { varies: false, rounds: 1 };
      group = { varies: around.varies || group.varies, rounds: Math.max(around.rounds, rounds, 1) };
    } else if (c === '|') group.varies = true;
    else {
      const { min, max } = quantifierAt(source, i);
      if (min !== max) group.varies = true;
    }
  }
  return false;
}

/** How often what stands before `at` may occur; once where no quantifier stands there. */
function quantifierAt(source: string, at: number): { readonly min: number; readonly max: number } {
  const c = source.charAt(at);
  if (c === '*' || c === '+') return { min: 0, max: Infinity };
  if (c === '?') return { min: 0, max: 1 };
  const bounds = c === '{' ? /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at)) : null;
  if (bounds === null) return { min: 1, max: 1 };
  const min = Number(bounds[1]);
  if (bounds[2] === '') return { min, max: min };
  return { min, max: bounds[3] === '' ? Infinity : Number(bounds[3]) };
}

function plainObject(value: Readonly<Record<string, unknown>>, what: string): JsonObject {
  const object = fromPlain(value);
  if (!(object instanceof Map)) throw invalid(`A model's ${what} must be an object.`);
  return object;
}

function invalid(message: string): RepriseError {
  return new RepriseError('config_invalid', message);
}
