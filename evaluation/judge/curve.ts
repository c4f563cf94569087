/** A labelled item with the score that ranks it. */
export interface Scored {
  readonly same: boolean;
  /** -Infinity: never served. */
  readonly score: number;
}

/** What is served from one threshold on. */
export interface CurvePoint {
  readonly threshold: number;
  /** Right hits: same=1 served. */
  readonly right: number;
  /** Wrong hits: same=0 served. */
  readonly wrong: number;
}

/** Right hits against wrong ones for every threshold that makes a difference. */
export interface Curve {
  readonly positives: number;
  readonly negatives: number;
  /** From the strictest threshold to the laxest; the first serves nothing. */
  readonly points: readonly CurvePoint[];
}

/** The curve of a ranking. Items of one score are served together or not at all. */
export function curveOf(items: readonly Scored[]): Curve {
  const ranked = items.filter((item) => item.score !== -Infinity).toSorted((one, two) => two.score - one.score);
  const points: CurvePoint[] = [{ threshold: Infinity, right: 0, wrong: 0 }];
  let [right, wrong] = [0, 0];
  for (const [index, { same, score }] of ranked.entries()) {
    if (same) right += 1;
    else wrong += 1;
    if (ranked[index + 1]?.score !== score) points.push({ threshold: score, right, wrong });
  }
  const positives = items.filter((item) => item.same).length;
  return { positives, negatives: items.length - positives, points };
}

/** The laxest point at which at most `wrongShare` of the negatives are served. */
export function coverageAt({ points, negatives }: Curve, wrongShare: number): CurvePoint {
  let best: CurvePoint = { threshold: Infinity, right: 0, wrong: 0 };
  for (const point of points) {
    // The slack is for floating point: 0.07 * 100 is more than 7.
    if (point.wrong <= wrongShare * negatives + 1e-9) best = point;
  }
  return best;
}

/** At most `pointsMax` points, the ends and evenly spread ones between them: enough to plot. */
export function thinned(points: readonly CurvePoint[], pointsMax: number): readonly CurvePoint[] {
  if (points.length <= pointsMax) return points;
  const step = (points.length - 1) / (pointsMax - 1);
  return Array.from({ length: pointsMax }, (_, index) => points[Math.round(index * step)]!);
}
