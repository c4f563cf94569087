import { describe, expect, it } from 'vitest';
import { RepriseError } from '../errors.ts';
import { DEFAULT_DOMAIN } from '../node/defaults.ts';
import type { DomainOptions, DomainRule } from '../ports/options.ts';
import { calibratedDomain, sampleCalibration } from '../semantic/testing/calibration.ts';
import { Domains, observedBecause } from './domains.ts';

const strict: DomainOptions = { ...DEFAULT_DOMAIN, similarityMin: 0.96 };
const lax: DomainOptions = { ...DEFAULT_DOMAIN, similarityMin: 0.5, guards: [] };
const DOMAINS = { default: DEFAULT_DOMAIN, strict, lax };
const RULES: DomainRule[] = [{ domain: 'strict', namespace: '*', model: '*', words: ['dose'] }];

const choose = (asked?: string, text = 'hello', domains: Record<string, DomainOptions> = DOMAINS) =>
  new Domains({ domains, domainRules: RULES }).choose({
    namespace: 'n',
    model: 'm',
    text,
    fallback: 'default',
    asked,
  });

describe('Domains', () => {
  it('takes the namespace’s domain where no rule fits, else the rule’s', () => {
    expect(choose()).toMatchObject({ name: 'default', reason: "the namespace's domain" });
    expect(choose(undefined, 'what dose')).toMatchObject({
      name: 'strict',
      reason: "domainRules[0], by the word 'dose'",
    });
  });

  it('a stricter domain of the caller adds to the node’s own choice', () => {
    const chosen = choose('strict');
    expect(chosen.name).toBe('strict');
    expect(chosen.policies.map((policy) => policy.name)).toEqual(['default', 'strict']);
  });

  it('a laxer domain of the caller changes nothing', () => {
    for (const [text, name] of [
      ['hello', 'default'],
      ['what dose', 'strict'],
    ] as const) {
      const chosen = choose('lax', text);
      expect(chosen.name).toBe(name);
      expect(chosen.policies.map((policy) => policy.name)).toEqual([name]);
      expect(chosen.reason).toContain("the caller's lax is nowhere stricter and changes nothing");
    }
  });

  it('a domain that is stricter in one thing and laxer in another takes nothing away', () => {
    const mixed = { ...lax, verifiedMin: 0.5 };
    const chosen = choose('mixed', 'hello', { ...DOMAINS, mixed });
    expect(chosen.policies.map((policy) => policy.name)).toEqual(['default', 'mixed']);
  });

  it('words of a domain’s own count as strictness', () => {
    const own = { ...DEFAULT_DOMAIN, lexicon: { names: ['ana', 'anna'] } };
    expect(choose('own', 'hello', { ...DOMAINS, own }).policies).toHaveLength(2);
  });

  it('refuses a domain that is not configured', () => {
    expect(() => choose('other')).toThrow(RepriseError);
    expect(() => choose('other')).toThrow("There is no domain 'other'; configured are: default, strict, lax.");
  });

  it('coefficients of a calibrated domain’s own are used for it', () => {
    const calibration = sampleCalibration('e', {
      default: calibratedDomain(),
      own: calibratedDomain({ equivalence: sampleCalibration('e').equivalence }),
    });
    const domains = {
      default: { ...DEFAULT_DOMAIN, calibratedAs: 'default' },
      own: { ...DEFAULT_DOMAIN, calibratedAs: 'own' },
    };
    const compiled = new Domains({ domains, domainRules: [], calibration });
    const of = (fallback: string) =>
      compiled.choose({ namespace: 'n', model: 'm', text: '', fallback, asked: undefined }).policies[0];
    expect(of('own')?.equivalence).not.toBe(of('default')?.equivalence);
    expect(of('own')?.equivalence.calibrated).toBe(true);
  });
});

describe('observedBecause', () => {
  const namespace = { semantic: 'serve' } as Parameters<typeof observedBecause>[0];

  it('nothing, where the namespace serves', () => expect(observedBecause(namespace, choose())).toBeUndefined());

  it('the namespace’s mode', () => {
    expect(observedBecause({ ...namespace, semantic: 'observe' }, choose())).toContain('only observes');
  });

  it('a domain of which nothing is promised', () => {
    const domains = { default: { ...DEFAULT_DOMAIN, observeOnly: true } };
    const chosen = new Domains({ domains, domainRules: [] }).choose({
      namespace: 'n',
      model: 'm',
      text: '',
      fallback: 'default',
      asked: undefined,
    });
    expect(observedBecause(namespace, chosen)).toContain('not calibrated');
  });

  it('an uncalibrated domain, where the namespace serves calibrated ones only', () => {
    expect(observedBecause({ ...namespace, calibratedOnly: true }, choose())).toContain('not calibrated');
  });
});
