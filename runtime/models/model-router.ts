import { RepriseError } from '../errors.ts';
import type { Model, Operation } from '../ports/model.ts';
import type { ModelRule } from '../ports/options.ts';

/** Where a model name leads. */
export interface ModelRoute {
  readonly upstreamName: string;
  readonly upstream: Model;
  /** The rule that claimed the name; undefined when the name went to the default upstream. */
  readonly rule: ModelRule | undefined;
  /** Name to ask the upstream for. */
  readonly model: string;
}

export interface ModelRouterOptions {
  /** In order: the first that fits wins. */
  readonly rules: readonly ModelRule[];
  readonly upstreams: ReadonlyMap<string, Model>;
  /** Takes the names that no rule claims; empty: they are refused. */
  readonly defaultUpstream: string;
}

const NAMES_SHOWN_MAX = 20;
const ASKED_SHOWN_MAX = 100;
const NAMES_MAX = 2_000;

/** The upstreams by model name. Immutable. */
export class ModelRouter {
  readonly #options: ModelRouterOptions;

  /** Errors: `config_invalid` when a rule or the default names an upstream that isn't there. */
  constructor(options: ModelRouterOptions) {
    this.#options = options;
    const named = options.rules.map((rule) => rule.upstream);
    if (options.defaultUpstream !== '') named.push(options.defaultUpstream);
    for (const name of named) {
      if (options.upstreams.has(name)) continue;
      const known = [...options.upstreams.keys()].join(', ');
      throw new RepriseError('config_invalid', `A model rule names the upstream "${name}"; there is: ${known}.`);
    }
  }

  /** Errors: `model_not_found`, naming what there is. */
  route(model: string, operation: Operation): ModelRoute {
    for (const rule of this.#options.rules) {
      if (!claims(rule, model, operation)) continue;
      const upstream = this.#options.upstreams.get(rule.upstream);
      if (upstream === undefined) continue;
      return { upstreamName: rule.upstream, upstream, rule, model: rule.as === '' ? model : rule.as };
    }
    const upstreamName = this.#options.defaultUpstream;
    const upstream = this.#options.upstreams.get(upstreamName);
    if (upstream === undefined) throw this.#notFound(model, operation);
    return { upstreamName, upstream, rule: undefined, model };
  }

  /** Names for `/v1/models`, sorted: those that rules spell out, and what upstreams tell of theirs; one that fails adds nothing. */
  async names(): Promise<readonly string[]> {
    const names = new Set<string>();
    const patterns = new Map<string, string[]>();
    for (const rule of this.#options.rules) {
      if (!rule.match.includes('*')) names.add(rule.match);
      else patterns.set(rule.upstream, [...(patterns.get(rule.upstream) ?? []), rule.match]);
    }
    if (this.#options.defaultUpstream !== '') patterns.set(this.#options.defaultUpstream, ['*']);
    const told = [...patterns].map(async ([upstreamName, globs]) => {
      const list =
        (await this.#options.upstreams
          .get(upstreamName)
          ?.models()
          .catch(() => [])) ?? [];
      return list.filter((name) => globs.some((glob) => matchesGlob(glob, name)));
    });
    for (const list of await Promise.all(told)) {
      for (const name of list) names.add(name);
    }
    return [...names].sort().slice(0, NAMES_MAX);
  }

  /** Closes every upstream. */
  async close(): Promise<void> {
    await Promise.all([...this.#options.upstreams.values()].map((upstream) => upstream.close()));
  }

  #notFound(model: string, operation: Operation): RepriseError {
    const serving = this.#options.rules.filter((rule) => serves(rule, operation)).map((rule) => rule.match);
    const shown = serving.slice(0, NAMES_SHOWN_MAX).join(', ');
    const more = serving.length > NAMES_SHOWN_MAX ? ` and ${serving.length - NAMES_SHOWN_MAX} more` : '';
    const asked = model.length > ASKED_SHOWN_MAX ? `${model.slice(0, ASKED_SHOWN_MAX)}…` : model;
    const there = serving.length === 0 ? `no model serves ${operation}` : `there is: ${shown}${more}`;
    return new RepriseError('model_not_found', `The model "${asked}" is not known; ${there}.`, { param: 'model' });
  }
}

function claims(rule: ModelRule, model: string, operation: Operation): boolean {
  return serves(rule, operation) && matchesGlob(rule.match, model);
}

function serves(rule: ModelRule, operation: Operation): boolean {
  return rule.operations.length === 0 || rule.operations.includes(operation);
}

/** True when `*` in the glob can stand for runs of characters that make it the text. At worst the product of the lengths in steps. */
export function matchesGlob(glob: string, text: string): boolean {
  let at = 0;
  let globAt = 0;
  let starAt = -1;
  let starText = 0;
  while (at < text.length) {
    if (glob[globAt] === '*') {
      starAt = globAt;
      starText = at;
      globAt += 1;
    } else if (globAt < glob.length && glob[globAt] === text[at]) {
      globAt += 1;
      at += 1;
    } else if (starAt >= 0) {
      starText += 1;
      at = starText;
      globAt = starAt + 1;
    } else {
      return false;
    }
  }
  while (glob[globAt] === '*') globAt += 1;
  return globAt === glob.length;
}
