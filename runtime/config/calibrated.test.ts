import { describe, expect, it } from 'vitest';
import { calibratedDomain, sampleCalibration } from '../semantic/testing/calibration.ts';
import { DomainRules } from '../semantic/domain-rules.ts';
import { withCalibration } from './calibrated.ts';
import { loadConfig } from './load.ts';
import type { SettingsInput } from './schema.ts';

const UPSTREAM = { upstreams: { test: { url: 'http://127.0.0.1:9' } } };
const config = (overrides: SettingsInput, env: Record<string, string> = {}) =>
  loadConfig({ file: false, env, overrides });
const calibration = sampleCalibration('e-1', {
  default: calibratedDomain({ similarityMin: 0.7, probabilityMin: 0.6 }),
  medication: calibratedDomain({ similarityMin: 0.8, probabilityMin: 0.9 }),
});
const domainOf = (name: string, domain: object, given: typeof calibration | undefined = calibration) =>
  withCalibration(config({ domains: { [name]: domain } }), given).node.domains[name];

describe('minima of a domain', () => {
  it('are the calibrated ones of its name', () => {
    expect(domainOf('medication', {})).toMatchObject({
      similarityMin: 0.8,
      probabilityMin: 0.9,
      calibratedAs: 'medication',
    });
  });

  it('are those of default where it has none of its own', () => {
    expect(domainOf('other', {})).toMatchObject({ similarityMin: 0.7, probabilityMin: 0.6, calibratedAs: 'default' });
  });

  it('are the configured ones where these are stricter, and not where they are laxer', () => {
    expect(domainOf('other', { similarityMin: 0.95 })).toMatchObject({ similarityMin: 0.95, probabilityMin: 0.6 });
    expect(domainOf('other', { similarityMin: 0.55, probabilityMin: 0.1 }, calibration)).toMatchObject({
      similarityMin: 0.7,
      probabilityMin: 0.6,
    });
  });

  it('are the configured ones alone where the domain wants no calibration, or there is none', () => {
    for (const found of [
      domainOf('other', { similarityMin: 0.6, calibration: 'off' }),
      withCalibration(config({ domains: { other: { similarityMin: 0.6 } } }), undefined).node.domains['other'],
    ]) {
      expect(found).toMatchObject({ similarityMin: 0.6, probabilityMin: 0 });
      expect(found?.calibratedAs).toBeUndefined();
    }
  });

  it('a domain that only the calibration has is there too', () => {
    const { node } = withCalibration(config({}), calibration);
    expect(node.domains['medication']).toMatchObject({ similarityMin: 0.8, guards: node.domains['default']?.guards });
  });
});

describe('modes that nobody has set', () => {
  const modesOf = (settings: SettingsInput, given: typeof calibration | undefined, env: Record<string, string> = {}) =>
    Object.fromEntries(
      Object.entries(withCalibration(config(settings, env), given).node.namespaces).map(
        ([name, { semantic, calibratedOnly }]) => [name, `${semantic}${calibratedOnly === true ? ', calibrated' : ''}`],
      ),
    );
  const namespaces = { set: { semantic: 'observe' as const }, unset: {} };

  it('serve what is calibrated, where anything is', () => {
    expect(modesOf({ ...UPSTREAM, namespaces }, calibration)).toEqual({
      default: 'serve, calibrated',
      set: 'observe',
      unset: 'serve, calibrated',
    });
  });

  it('observe where nothing is', () => {
    const bare = sampleCalibration('e-1', {});
    expect(modesOf(UPSTREAM, undefined)).toEqual({ default: 'observe' });
    expect(modesOf(UPSTREAM, bare)).toEqual({ default: 'observe' });
  });

  it('serve where only the demo model answers', () => {
    expect(modesOf({}, undefined)).toEqual({ default: 'serve' });
  });

  it('are none where the mode is set for all', () => {
    expect(modesOf({ ...UPSTREAM, semantic: { mode: 'serve' } }, undefined)).toEqual({ default: 'serve' });
    expect(modesOf(UPSTREAM, calibration, { REPRISE_SEMANTIC: 'observe' })).toEqual({ default: 'observe' });
    expect(modesOf(UPSTREAM, calibration, { REPRISE_SEMANTIC: 'auto' })).toEqual({ default: 'serve, calibrated' });
  });
});

describe('the clinical preset', () => {
  const clinical: SettingsInput = { ...UPSTREAM, semantic: { preset: 'clinical' } };
  const text = (promises: readonly { domain: string; text: string }[], domain: string) =>
    promises.find((promise) => promise.domain === domain)?.text;

  it('has the reference thresholds and only observes, until calibrated', () => {
    const { node, promises } = withCalibration(config(clinical), undefined);
    expect(node.domains).toMatchObject({
      default: { similarityMin: 0.91, observeOnly: true },
      medication: { similarityMin: 0.93, observeOnly: true },
      'non-clinical': { similarityMin: 0.85, observeOnly: true },
    });
    expect(text(promises, 'medication')).toBe(
      'medication: not calibrated for this embedder: semantic stays in observe',
    );
  });

  it('takes the calibrated values of each domain’s own name, and no other’s', () => {
    const { node, promises } = withCalibration(config(clinical), calibration);
    expect(node.domains['medication']).toMatchObject({ similarityMin: 0.8, probabilityMin: 0.9 });
    expect(node.domains['medication']?.observeOnly).toBeUndefined();
    expect(node.domains['non-clinical']).toMatchObject({ similarityMin: 0.85, observeOnly: true });
    expect(text(promises, 'medication')).toBe(
      'medication: at most 1 % of wrong pairs served, with 95 % confidence, where pairs are as those it was calibrated on (exact binomial bound; held out: 0 of 500 wrong ' +
        'and 250 of 500 right pairs served); similarity from 0.8, probability from 0.9',
    );
  });

  it('obeys what is configured for its domains', () => {
    const own = { ...clinical, domains: { medication: { similarityMin: 0.99, guards: ['numbers'] } } };
    expect(withCalibration(config(own), calibration).node.domains['medication']).toMatchObject({
      similarityMin: 0.99,
      probabilityMin: 0.9,
      guards: ['numbers'],
    });
    expect(withCalibration(config(own), undefined).node.domains['medication']).toMatchObject({ observeOnly: true });
  });

  it.each([
    ['How much ibuprofen can I take?', 'medication'],
    ['What are the side effects of metformin', 'medication'],
    ['Is it safe to take two tablets before my appointment?', 'medication'],
    ['I have chest pain', 'default'],
    ['Can I cancel my appointment? I have a fever', 'default'],
    ['What are your opening hours?', 'non-clinical'],
    ['Where can I park? Is there parking?', 'non-clinical'],
    ['Tell me something', undefined],
  ])('%j falls into %s', (asked, domain) => {
    const rules = new DomainRules(config(clinical).node.domainRules);
    expect(rules.match({ namespace: 'default', model: 'm', text: asked })?.rule.domain).toBe(domain);
  });

  it('comes after rules of one’s own', () => {
    const own = { ...clinical, domainRules: [{ domain: 'medication', words: ['parking'] }] };
    const rules = new DomainRules(config(own).node.domainRules);
    expect(rules.match({ namespace: 'n', model: 'm', text: 'parking' })?.rule.domain).toBe('medication');
  });
});

describe('refusals', () => {
  const refusal = (overrides: SettingsInput): string => {
    try {
      config(overrides);
      return 'accepted';
    } catch (error) {
      return String(error);
    }
  };

  it.each([
    ['a rule to a domain that is not there', { domainRules: [{ domain: 'defalt' }] }, 'did you mean default?'],
    [
      'a rule by a word without letters',
      { domainRules: [{ domain: 'default', words: ['**'] }] },
      'domainRules[0].words[0]',
    ],
    [
      'a domain to be verified by nobody',
      { domains: { a: { verifiedMin: 0.5 } } },
      'domains.a.verifiedMin needs a verifier',
    ],
    ['a cross-encoder without a name', { semantic: { verifier: { kind: 'cross-encoder' } } }, 'semantic.verifier.name'],
    ['a judge without a model', { semantic: { verifier: { kind: 'model' } } }, 'semantic.verifier.model'],
    [
      'a judge without a key of ours',
      {
        upstreams: { test: { url: 'http://127.0.0.1:9' } },
        identity: { mode: 'forward' },
        semantic: { verifier: { kind: 'model', model: 'm' } },
      },
      'no upstream has one',
    ],
  ] satisfies [string, SettingsInput, string][])('%s', (_, overrides, message) => {
    expect(refusal(overrides)).toContain(message);
  });
});
