import { clopperPearson, type Interval } from '../statistics/binomial.ts';
import { coverageAt, curveOf, thinned, type Curve, type CurvePoint } from './curve.ts';
import type { JudgedPair } from './judge-pairs.ts';

/** A share with its exact 95 % interval (Clopper and Pearson, 1934). */
export interface Share extends Interval {
  readonly count: number;
  readonly of: number;
  /** null: of nothing. */
  readonly share: number | null;
}

/** What the policy in force does to some pairs. */
export interface OperatingPoint {
  readonly right: Share;
  readonly wrong: Share;
}

/** How well one ranking parts same from different. */
export interface RankingSummary {
  /** Share of same=1 served where at most so much of same=0 is. */
  readonly coverage: readonly {
    readonly wrongAtMost: number;
    readonly right: Share;
    readonly threshold: number | null;
  }[];
  /** At most 500 points, strictest first. */
  readonly curve: readonly CurvePoint[];
}

/** A pair to read. */
export interface ReadingPair {
  readonly line: number;
  readonly a: string;
  readonly b: string;
  readonly domain: string | null;
  readonly category: string | null;
  readonly similarity: number;
  readonly probability: number;
  readonly vetoes: readonly string[];
  readonly reason: string;
}

/** Content of `--summary`. */
export interface JudgeSummary {
  readonly version: 1;
  readonly pairs: { readonly path: string; readonly hash: string; readonly count: number };
  readonly embedderId: string;
  readonly labelled: { readonly same: number; readonly different: number; readonly unlabelled: number };
  readonly served: number;
  readonly policies: readonly {
    readonly domain: string;
    readonly similarityMin: number;
    readonly probabilityMin: number;
    readonly calibrated: boolean;
    readonly guards: readonly string[];
  }[];
  readonly interval: string;
  readonly operatingPoint: OperatingPoint;
  readonly probability: RankingSummary;
  readonly cosine: RankingSummary;
  readonly byDomain: Readonly<Record<string, OperatingPoint>>;
  readonly byCategory: Readonly<Record<string, OperatingPoint>>;
  readonly byVeto: Readonly<
    Record<string, { readonly same: number; readonly different: number; readonly unlabelled: number }>
  >;
  /** same=0 that is served, the surest first. */
  readonly wrongHits: readonly ReadingPair[];
  /** same=0 that the current policy doesn't serve but that ranks highest. */
  readonly nearWrong: readonly ReadingPair[];
  /** same=1 that isn't served, the nearest texts first. */
  readonly misses: readonly ReadingPair[];
}

const READING_MAX = 30;
const CURVE_POINTS_MAX = 500;
const WRONG_SHARES = [0.01, 0.05];
const NONE = '(none)';

/** What a judged file tells of the policy. */
export function summarise(
  judged: readonly JudgedPair[],
  about: Pick<JudgeSummary, 'pairs' | 'embedderId' | 'policies'>,
): JudgeSummary {
  const labelled = judged.filter(({ pair }) => pair.same !== null);
  const different = labelled.filter(({ pair }) => pair.same === false);
  const same = labelled.filter(({ pair }) => pair.same === true);
  const ranking = (score: (item: JudgedPair) => number): RankingSummary =>
    rankingOf(curveOf(labelled.map((item) => ({ same: item.pair.same === true, score: score(item) }))));
  return {
    version: 1,
    ...about,
    labelled: { same: same.length, different: different.length, unlabelled: judged.length - labelled.length },
    served: judged.filter(({ serve }) => serve).length,
    interval: '95 %, Clopper and Pearson (Biometrika 26, 1934)',
    operatingPoint: operatingPoint(labelled),
    probability: ranking(({ probability }) => (probability > 0 ? probability : -Infinity)),
    cosine: ranking(({ similarity }) => similarity),
    byDomain: grouped(labelled, ({ pair }) => pair.domain ?? NONE),
    byCategory: grouped(labelled, ({ pair }) => pair.category ?? NONE),
    byVeto: vetoCounts(judged),
    wrongHits: reading(different.filter(({ serve }) => serve).toSorted(byProbability)),
    nearWrong: reading(different.filter(({ serve, probability }) => !serve && probability > 0).toSorted(byProbability)),
    misses: reading(same.filter(({ serve }) => !serve).toSorted((one, two) => two.similarity - one.similarity)),
  };
}

/** A count as a share of another, with its interval. */
export function shareOf(count: number, of: number): Share {
  return { count, of, share: of === 0 ? null : count / of, ...clopperPearson(count, of) };
}

function operatingPoint(labelled: readonly JudgedPair[]): OperatingPoint {
  const served = (same: boolean): Share => {
    const all = labelled.filter(({ pair }) => pair.same === same);
    return shareOf(all.filter(({ serve }) => serve).length, all.length);
  };
  return { right: served(true), wrong: served(false) };
}

function rankingOf(curve: Curve): RankingSummary {
  return {
    coverage: WRONG_SHARES.map((wrongAtMost) => {
      const { right, threshold } = coverageAt(curve, wrongAtMost);
      return { wrongAtMost, right: shareOf(right, curve.positives), threshold: finite(threshold) };
    }),
    curve: thinned(curve.points, CURVE_POINTS_MAX),
  };
}

function finite(threshold: number): number | null {
  return Number.isFinite(threshold) ? threshold : null;
}

function grouped(
  labelled: readonly JudgedPair[],
  nameOf: (item: JudgedPair) => string,
): Readonly<Record<string, OperatingPoint>> {
  const groups = new Map<string, JudgedPair[]>();
  for (const item of labelled) {
    const group = groups.get(nameOf(item));
    if (group === undefined) groups.set(nameOf(item), [item]);
    else group.push(item);
  }
  const ordered = [...groups].toSorted(([one], [two]) => (one < two ? -1 : 1));
  return Object.fromEntries(ordered.map(([name, items]) => [name, operatingPoint(items)]));
}

function vetoCounts(judged: readonly JudgedPair[]): JudgeSummary['byVeto'] {
  const counts: Record<string, { same: number; different: number; unlabelled: number }> = {};
  for (const { pair, vetoes } of judged) {
    for (const veto of vetoes) {
      const count = (counts[veto] ??= { same: 0, different: 0, unlabelled: 0 });
      count[pair.same === null ? 'unlabelled' : pair.same ? 'same' : 'different'] += 1;
    }
  }
  return counts;
}

function byProbability(one: JudgedPair, two: JudgedPair): number {
  return two.probability - one.probability || two.similarity - one.similarity;
}

function reading(items: readonly JudgedPair[]): readonly ReadingPair[] {
  return items.slice(0, READING_MAX).map(({ pair, similarity, probability, vetoes, reason }) => {
    const { line, a, b, domain, category } = pair;
    return { line, a, b, domain, category, similarity, probability, vetoes, reason };
  });
}
