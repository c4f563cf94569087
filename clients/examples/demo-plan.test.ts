import { describe, expect, it } from 'vitest';
import { planSteps } from './demo-plan.ts';
import { FAMILIES } from './demo-questions.ts';

describe('planSteps', () => {
  it('makes the same order from the same seed, and another from another', () => {
    expect(planSteps(FAMILIES, 'a')).toEqual(planSteps(FAMILIES, 'a'));
    expect(planSteps(FAMILIES, 'b')).not.toEqual(planSteps(FAMILIES, 'a'));
  });

  it('asks everything: repeats, rephrasings, traps and identical requests at once', () => {
    const steps = planSteps(FAMILIES, '1');
    const asks = steps.flat();
    for (const { question, rephrasings, traps } of FAMILIES) {
      const times = (text: string): number => asks.filter((ask) => ask.text === text).length;
      expect(times(question)).toBeGreaterThan(1);
      for (const text of [...rephrasings, ...traps.map((trap) => trap[1])]) expect(times(text)).toBeGreaterThan(1);
    }
    expect(steps.some((step) => step.length > 1)).toBe(true);
    expect(asks.some((ask) => ask.streamed)).toBe(true);
  });

  it('begins a family with its identical requests, so that they meet a cold key', () => {
    const steps = planSteps(FAMILIES, '1');
    for (const [index, step] of steps.entries()) {
      if (step.length === 1) continue;
      const earlier = steps.slice(0, index).flat();
      expect(earlier.some((ask) => ask.meaning === step[0]?.meaning)).toBe(false);
    }
  });
});

describe('the questions', () => {
  it('are distinct, so that a trap is never its own question', () => {
    const texts = FAMILIES.flatMap(({ question, rephrasings, traps }) => [
      question,
      ...rephrasings,
      ...traps.map((trap) => trap[1]),
    ]);
    expect(new Set(texts).size).toBe(texts.length);
    expect(FAMILIES.length).toBeGreaterThanOrEqual(40);
  });
});
