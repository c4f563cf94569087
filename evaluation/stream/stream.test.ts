import { describe, expect, it } from 'vitest';
import { Neighbours } from './neighbours.ts';
import { Stream, pointAtHitShare } from './stream.ts';

/** Unit vectors in a plane: the angle between two questions is the difference of these. */
const turned = (degrees: number): Float32Array => {
  const angle = (degrees * Math.PI) / 180;
  return Float32Array.of(Math.cos(angle), Math.sin(angle));
};

const QUESTIONS = [
  { text: 'one', intent: 'a', degrees: 0 },
  { text: 'one again', intent: 'a', degrees: 5 },
  { text: 'two', intent: 'b', degrees: 10 },
  { text: 'outside', intent: 'oos', degrees: 80 },
  { text: 'outside again', intent: 'oos', degrees: 81 },
];
const stream = new Stream(
  QUESTIONS,
  new Neighbours(
    QUESTIONS.map(({ degrees }) => turned(degrees)),
    0.5,
  ),
  {
    candidatesMax: 8,
    outOfScope: 'oos',
  },
);
const byCosine = (_asked: number, _stored: number, similarity: number): number => similarity;

describe('Stream', () => {
  it('stores misses only, and counts hits of another intent or out of scope as wrong', () => {
    const hits: string[] = [];
    const point = stream.run(byCosine, Math.cos((11 * Math.PI) / 180), ({ asked, stored, right }) => {
      hits.push(`${asked}<-${stored} ${right ? 'right' : 'wrong'}`);
    });
    expect(hits).toEqual(['1<-0 right', '2<-0 wrong', '4<-3 wrong']);
    expect(point).toMatchObject({ requests: 5, hits: 3, wrong: 2 });
  });

  it('tries the next candidate after one that does not reach the threshold', () => {
    const point = stream.run((asked, stored) => (asked === 2 && stored === 0 ? 1 : 0), 0.5);
    expect(point).toMatchObject({ hits: 1, wrong: 1 });
  });

  it('finds the threshold of a share of hits', () => {
    const point = pointAtHitShare((threshold) => stream.run(byCosine, threshold), 0.4, [0.5, 1]);
    expect(point.hits).toBe(2);
  });
});

describe('Neighbours', () => {
  it('gives the nearest stored questions before one, the nearest first', () => {
    const neighbours = new Neighbours(
      QUESTIONS.map(({ degrees }) => turned(degrees)),
      0.5,
    );
    expect(neighbours.nearest(2, 8, () => true).map(({ at }) => at)).toEqual([1, 0]);
    expect(neighbours.nearest(2, 8, (at) => at === 0).map(({ at }) => at)).toEqual([0]);
    expect(neighbours.nearest(4, 1, () => true).map(({ at }) => at)).toEqual([3]);
  });
});
