import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Model } from '../ports/model.ts';
import type { ModelRule } from '../ports/options.ts';
import { ModelRouter, matchesGlob } from './model-router.ts';

function upstream(...names: string[]): Model & { closed: boolean } {
  const unused = () => Promise.reject(new Error('not called here'));
  const model = { closed: false, call: unused, stream: unused, models: () => Promise.resolve(names) };
  return Object.assign(model, { close: () => Promise.resolve(void (model.closed = true)) });
}

function rule(match: string, upstreamName: string, fields: Partial<ModelRule> = {}): ModelRule {
  const price = { promptPerMillion: 0, completionPerMillion: 0 };
  return {
    match,
    upstream: upstreamName,
    as: '',
    version: '',
    operations: [],
    defaults: {},
    overrides: {},
    price,
    ...fields,
  };
}

const A = upstream('a-1', 'other');
const B = upstream('b-1');
const UPSTREAMS = new Map<string, Model>([
  ['a', A],
  ['b', B],
]);

describe('ModelRouter.resolve', () => {
  const rules = [
    rule('exact', 'a'),
    rule('a-*', 'a', { operations: ['embeddings'] }),
    rule('a-*', 'b'),
    rule('*-x', 'b'),
  ];
  const router = new ModelRouter({ rules, upstreams: UPSTREAMS, defaultUpstream: '' });

  it('takes the first rule that fits', () => {
    expect(router.resolve('exact', 'completions')).toEqual({ rule: rules[0], upstream: 'a', model: A });
    expect(router.resolve('a-x', 'completions').rule).toBe(rules[2]);
  });

  it('skips a rule for other operations', () => {
    expect(router.resolve('a-1', 'embeddings').rule).toBe(rules[1]);
  });

  it('refuses an unknown name, naming what there is', () => {
    expect(() => router.resolve('unknown', 'completions')).toThrow(
      expect.objectContaining({
        code: 'model_not_found',
        param: 'model',
        message: expect.stringContaining('exact, a-*, *-x') as string,
      }),
    );
  });

  it('keeps its refusal short whatever was asked and configured', () => {
    const many = Array.from({ length: 500 }, (_, index) => rule(`model-${index}`, 'a'));
    const crowded = new ModelRouter({ rules: many, upstreams: UPSTREAMS, defaultUpstream: '' });
    expect(() => crowded.resolve('x'.repeat(10_000), 'completions')).toThrow(/^.{1,600} and 480 more\.$/);
  });

  it('sends names that no rule claims to the default upstream', () => {
    const open = new ModelRouter({ rules, upstreams: UPSTREAMS, defaultUpstream: 'b' });
    expect(open.resolve('unknown', 'completions')).toMatchObject({
      upstream: 'b',
      model: B,
      rule: { match: '*', as: '' },
    });
  });

  it('refuses a rule for an upstream that is not there', () => {
    const build = () => new ModelRouter({ rules: [rule('*', 'c')], upstreams: UPSTREAMS, defaultUpstream: '' });
    expect(build).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

describe('ModelRouter.list', () => {
  it('has the names of rules and those of upstreams that a rule claims, sorted', async () => {
    const rules = [rule('z', 'b'), rule('a-*', 'a')];
    const router = new ModelRouter({ rules, upstreams: UPSTREAMS, defaultUpstream: '' });
    expect(await router.list()).toEqual(['a-1', 'z']);
  });

  it('has all that the default upstream tells', async () => {
    const router = new ModelRouter({ rules: [rule('z', 'b')], upstreams: UPSTREAMS, defaultUpstream: 'a' });
    expect(await router.list()).toEqual(['a-1', 'other', 'z']);
  });

  it('leaves out an upstream that fails', async () => {
    const broken = { ...upstream(), models: () => Promise.reject(new Error('away')) };
    const router = new ModelRouter({
      rules: [rule('z', 'b')],
      upstreams: new Map([...UPSTREAMS, ['c', broken]]),
      defaultUpstream: 'c',
    });
    expect(await router.list()).toEqual(['z']);
  });

  it('closes every upstream', async () => {
    await new ModelRouter({ rules: [], upstreams: UPSTREAMS, defaultUpstream: '' }).close();
    expect([A.closed, B.closed]).toEqual([true, true]);
  });
});

describe('matchesGlob', () => {
  it('agrees with a regular expression', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '.', '*'), { maxLength: 8 }).map((list) => list.join(''));
    const text = fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 8 }).map((list) => list.join(''));
    fc.assert(
      fc.property(letters, text, (glob, name) => {
        const pattern = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
        expect(matchesGlob(glob, name)).toBe(pattern.test(name));
      }),
    );
  });

  it('takes a star of the text for a character', () => {
    expect([matchesGlob('a', 'a*'), matchesGlob('a*', 'a*b'), matchesGlob('*b', 'a*b')]).toEqual([false, true, true]);
  });
});
