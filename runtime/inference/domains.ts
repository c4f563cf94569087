import { RepriseError } from '../errors.ts';
import type { NamespaceOptions, NodeOptions } from '../ports/options.ts';
import { DomainRules, type RuleSubject } from '../semantic/domain-rules.ts';
import { compilePolicies, isNowhereStricter, type DomainPolicy } from '../semantic/policies.ts';

/** The domain that a request falls into. */
export interface ChosenDomain {
  /** The caller's where that adds anything, else the one that the rules chose. */
  readonly name: string;
  /** Why it was chosen, for people. */
  readonly reason: string;
  /** A pair must pass every one of them. The first is the node's own choice; a second is the caller's, which can only add to it. */
  readonly policies: readonly DomainPolicy[];
  readonly observeOnly: boolean;
  /** The minima of the node's own choice are calibrated. */
  readonly calibrated: boolean;
}

export interface DomainSubject extends RuleSubject {
  /** The namespace's own domain. */
  readonly fallback: string;
  /** The caller's. */
  readonly asked: string | undefined;
}

const NAMES_SHOWN_MAX = 20;

/** The domains of a node: compiled once, chosen after the key, since none of it is part of the key. */
export class Domains {
  readonly #policies: ReadonlyMap<string, DomainPolicy>;
  readonly #rules: DomainRules;
  /** By the ways in which a domain can come to be chosen, which are few. */
  readonly #chosen = new Map<string, ChosenDomain>();

  constructor(options: Pick<NodeOptions, 'domains' | 'domainRules' | 'calibration'>) {
    this.#policies = compilePolicies(options.domains, options.calibration);
    this.#rules = new DomainRules(options.domainRules);
  }

  /** Fails with `invalid_control` for a domain that isn't configured. */
  check(name: string): void {
    if (this.#policies.has(name)) return;
    const known = [...this.#policies.keys()].slice(0, NAMES_SHOWN_MAX).join(', ');
    throw new RepriseError('invalid_control', `There is no domain '${name}'; configured are: ${known}.`, {
      param: 'domain',
    });
  }

  choose(subject: DomainSubject): ChosenDomain {
    const { fallback, asked } = subject;
    const match = this.#rules.match(subject);
    const place = match === undefined ? '' : `${match.index}\n${match.word}`;
    const way = `${place}\n${match === undefined ? fallback : match.rule.domain}\n${asked ?? ''}`;
    const known = this.#chosen.get(way);
    if (known !== undefined) return known;
    const base = this.#policy(match?.rule.domain ?? fallback);
    const reason = match === undefined ? "the namespace's domain" : ruleReason(match.index, match.word);
    const chosen = asked === undefined ? alone(base, reason) : this.#withAsked(base, this.#policy(asked), reason);
    if (this.#chosen.size >= CHOSEN_KEPT_MAX) this.#chosen.clear();
    this.#chosen.set(way, chosen);
    return chosen;
  }

  #withAsked(base: DomainPolicy, asked: DomainPolicy, reason: string): ChosenDomain {
    if (asked === base) return alone(base, reason);
    if (isNowhereStricter(asked, base)) {
      return alone(base, `${reason}; the caller's ${asked.name} is nowhere stricter and changes nothing`);
    }
    return {
      name: asked.name,
      reason: `asked for by the caller, on top of ${base.name} (${reason})`,
      policies: [base, asked],
      observeOnly: base.observeOnly || asked.observeOnly,
      calibrated: base.calibrated,
    };
  }

  #policy(name: string): DomainPolicy {
    this.check(name);
    return this.#policies.get(name) as DomainPolicy;
  }
}

const CHOSEN_KEPT_MAX = 10_000;

function alone(policy: DomainPolicy, reason: string): ChosenDomain {
  return {
    name: policy.name,
    reason,
    policies: [policy],
    observeOnly: policy.observeOnly,
    calibrated: policy.calibrated,
  };
}

/** Why semantic hits aren't served, where the mode alone doesn't say so; undefined when they are. */
export function observedBecause(namespace: NamespaceOptions, domain: ChosenDomain): string | undefined {
  if (namespace.semantic === 'observe') return 'the namespace only observes semantic hits';
  const bare = domain.observeOnly || (namespace.calibratedOnly === true && !domain.calibrated);
  return bare ? `the domain ${domain.name} is not calibrated for this embedder, so it only observes` : undefined;
}

function ruleReason(index: number, word: string): string {
  return `domainRules[${index}]${word === '' ? '' : `, by the word '${word}'`}`;
}
