/** Slope and offset that turn log odds into calibrated ones. */
export interface Scaling {
  readonly slope: number;
  readonly offset: number;
}

const STEPS = 50;
const SLOPE_MIN = 0.05;
const EDGE = 1e-9;
const FACTOR_MIN = 1e-6;
const RIDGE = 1e-9;

/**
 * Platt's scaling of probabilities that a model gave to pairs it hadn't seen: logistic regression of the labels on their log odds, both
 * labels counting alike. Without pairs of both labels nothing is scaled.
 */
export function plattScaling(rows: readonly { readonly score: number; readonly same: boolean }[]): Scaling {
  const positives = rows.filter(({ same }) => same).length;
  const negatives = rows.length - positives;
  if (positives === 0 || negatives === 0) return { slope: 1, offset: 0 };
  const weighted = rows.map(({ score, same }) => {
    const clipped = Math.min(1 - EDGE, Math.max(EDGE, score));
    return { logOdds: Math.log(clipped / (1 - clipped)), same, weight: 0.5 / (same ? positives : negatives) };
  });
  let { slope, offset } = { slope: 1, offset: 0 };
  let loss = lossOf(weighted, slope, offset);
  for (let step = 0; step < STEPS; step += 1) {
    const [bySlope, byOffset] = newtonStep(weighted, slope, offset);
    let factor = 1;
    while (factor > FACTOR_MIN && !(lossOf(weighted, slope - factor * bySlope, offset - factor * byOffset) < loss))
      factor /= 2;
    if (factor <= FACTOR_MIN) break;
    slope -= factor * bySlope;
    offset -= factor * byOffset;
    loss = lossOf(weighted, slope, offset);
  }
  if (!Number.isFinite(slope) || !Number.isFinite(offset) || slope < SLOPE_MIN) return { slope: 1, offset: 0 };
  return { slope: Number(slope.toPrecision(5)), offset: Number(offset.toPrecision(5)) };
}

interface Weighted {
  readonly logOdds: number;
  readonly same: boolean;
  readonly weight: number;
}

function lossOf(rows: readonly Weighted[], slope: number, offset: number): number {
  let loss = 0;
  for (const { logOdds, same, weight } of rows) {
    const signed = (slope * logOdds + offset) * (same ? -1 : 1);
    loss += weight * (Math.max(0, signed) + Math.log1p(Math.exp(-Math.abs(signed))));
  }
  return loss;
}

function newtonStep(rows: readonly Weighted[], slope: number, offset: number): readonly [number, number] {
  let [g0, g1, h00, h01, h11] = [0, 0, RIDGE, 0, RIDGE];
  for (const { logOdds, same, weight } of rows) {
    const probability = 1 / (1 + Math.exp(-(slope * logOdds + offset)));
    const error = weight * (probability - (same ? 1 : 0));
    const spread = weight * probability * (1 - probability);
    g0 += error * logOdds;
    g1 += error;
    h00 += spread * logOdds * logOdds;
    h01 += spread * logOdds;
    h11 += spread;
  }
  const determinant = h00 * h11 - h01 * h01;
  return [(h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant];
}
