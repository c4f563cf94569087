import { withCalibration, type Config } from '../../runtime/config/index.ts';
import { RepriseError } from '../../runtime/errors.ts';
import type { Calibration } from '../../runtime/ports/calibration.ts';
import { DomainRules } from '../../runtime/semantic/domain-rules.ts';
import { compilePolicies, type DomainPolicy } from '../../runtime/semantic/policies.ts';

/** Chooses policies as a node with the same configuration and calibration does. */
export class Policies {
  readonly #policies: ReadonlyMap<string, DomainPolicy>;
  readonly #rules: DomainRules;
  readonly #namespace: string;
  readonly #fallback: string;

  constructor(config: Config, calibration: Calibration | undefined) {
    const { node } = withCalibration(config, calibration);
    this.#policies = compilePolicies(node.domains, calibration);
    this.#rules = new DomainRules(node.domainRules);
    this.#namespace = node.defaultNamespace;
    this.#fallback = node.namespaces[node.defaultNamespace]?.domain ?? 'default';
  }

  /** True for a domain that configuration or calibration has. */
  has(domain: string): boolean {
    return this.#policies.has(domain);
  }

  /** The policy of a domain. Fails with `data_invalid` where there is none. */
  ofDomain(domain: string): DomainPolicy {
    const policy = this.#policies.get(domain);
    if (policy !== undefined) return policy;
    const names = [...this.#policies.keys()].join(', ');
    throw new RepriseError('data_invalid', `There is no domain ${domain}; there are ${names}.`);
  }

  /** The policy of a text that is asked in the default namespace without a model. */
  ofText(text: string): DomainPolicy {
    const match = this.#rules.match({ namespace: this.#namespace, model: '', text });
    return this.ofDomain(match?.rule.domain ?? this.#fallback);
  }
}
