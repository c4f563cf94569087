import { RepriseError } from '../errors.ts';
import type { Model, Operation } from '../ports/model.ts';
import type { ModelDirectory, ResolvedModel } from '../ports/model-directory.ts';
import type { ModelRule } from '../ports/options.ts';

export interface ModelRouterOptions {
  /** In order: the first that fits wins. */
  readonly rules: readonly ModelRule[];
  readonly upstreams: ReadonlyMap<string, Model>;
  /** Takes the names that no rule claims; empty: they are refused. */
  readonly defaultUpstream: string;
}

const CATCH_ALL: ModelRule = {
  match: '*',
  upstream: '',
  as: '',
  version: '',
  operations: [],
  defaults: {},
  overrides: {},
  price: { promptPerMillion: 0, completionPerMillion: 0 },
};
const NAMES_SHOWN_MAX = 20;
const ASKED_SHOWN_MAX = 100;
const NAMES_MAX = 2_000;

/** The upstreams by model name: the `ModelDirectory` of a node. Immutable. */
export class ModelRouter implements ModelDirectory {
  readonly #upstreams: ReadonlyMap<string, Model>;
  /** In order; the default upstream comes last and claims every name. */
  readonly #resolved: readonly ResolvedModel[];

  /** Errors: `config_invalid` when a rule or the default names an upstream that isn't there. */
  constructor(options: ModelRouterOptions) {
    this.#upstreams = options.upstreams;
    const { rules, defaultUpstream } = options;
    const all = defaultUpstream === '' ? rules : [...rules, { ...CATCH_ALL, upstream: defaultUpstream }];
    this.#resolved = all.map((rule) => {
      const model = options.upstreams.get(rule.upstream);
      if (model !== undefined) return { rule, upstream: rule.upstream, model };
      const known = [...options.upstreams.keys()].join(', ');
      throw new RepriseError(
        'config_invalid',
        `A model rule names the upstream "${rule.upstream}"; there is: ${known}.`,
      );
    });
  }

  resolve(name: string, operation: Operation): ResolvedModel {
    for (const resolved of this.#resolved) {
      if (serves(resolved.rule, operation) && matchesGlob(resolved.rule.match, name)) return resolved;
    }
    throw this.#notFound(name, operation);
  }

  /** Names that rules spell out, and those that upstreams tell of and a rule claims; an upstream that fails adds none. */
  async list(): Promise<readonly string[]> {
    const names = new Set<string>();
    const globs = new Map<string, string[]>();
    for (const { rule, upstream } of this.#resolved) {
      if (!rule.match.includes('*')) names.add(rule.match);
      else globs.set(upstream, [...(globs.get(upstream) ?? []), rule.match]);
    }
    const told = [...globs].map(async ([upstream, patterns]) => {
      const list =
        (await this.#upstreams
          .get(upstream)
          ?.models()
          .catch(() => [])) ?? [];
      return list.filter((name) => patterns.some((pattern) => matchesGlob(pattern, name)));
    });
    for (const list of await Promise.all(told)) {
      for (const name of list) names.add(name);
    }
    return [...names].sort().slice(0, NAMES_MAX);
  }

  /** Closes every upstream. */
  async close(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()));
  }

  #notFound(model: string, operation: Operation): RepriseError {
    const serving = this.#resolved.filter(({ rule }) => serves(rule, operation)).map(({ rule }) => rule.match);
    const shown = serving.slice(0, NAMES_SHOWN_MAX).join(', ');
    const more = serving.length > NAMES_SHOWN_MAX ? ` and ${serving.length - NAMES_SHOWN_MAX} more` : '';
    const asked = model.length > ASKED_SHOWN_MAX ? `${model.slice(0, ASKED_SHOWN_MAX)}…` : model;
    const there = serving.length === 0 ? `no model serves ${operation}` : `there is: ${shown}${more}`;
    return new RepriseError('model_not_found', `The model "${asked}" is not known; ${there}.`, { param: 'model' });
  }
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
