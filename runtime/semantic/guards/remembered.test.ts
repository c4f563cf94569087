import { describe, expect, it } from 'vitest';
import { remembered } from './remembered.ts';

function counted(): { readonly lengthOf: (of: { readonly text: string }) => { length: number }; times: () => number } {
  let times = 0;
  const lengthOf = remembered(({ text }: { readonly text: string }) => {
    times += 1;
    return { length: text.length };
  });
  return { lengthOf, times: () => times };
}

describe('remembered', () => {
  it('works a thing out once', () => {
    const { lengthOf, times } = counted();
    const of = { text: 'abc' };
    expect(lengthOf(of)).toBe(lengthOf(of));
    expect(times()).toBe(1);
  });

  it('keeps two functions of one object apart', () => {
    const of = { text: 'abc' };
    const upper = remembered(({ text }: { readonly text: string }) => [text.toUpperCase()]);
    expect(counted().lengthOf(of)).toEqual({ length: 3 });
    expect(upper(of)).toEqual(['ABC']);
  });

  it('never takes what it knows of an object for its changed copy', () => {
    const { lengthOf } = counted();
    const of = { text: 'abc' };
    lengthOf(of);
    expect(lengthOf({ ...of, text: 'abcd' })).toEqual({ length: 4 });
    expect(JSON.stringify(of)).toBe('{"text":"abc"}');
  });

  it('works on objects that can take nothing', () => {
    const { lengthOf } = counted();
    expect(lengthOf(Object.freeze({ text: 'abc' }))).toEqual({ length: 3 });
  });
});
