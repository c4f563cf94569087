import type { NetworkParameters } from '../../runtime/ports/calibration.ts';
import { SCALED_MAX } from '../../runtime/semantic/equivalence.ts';
import { seededRandom, shuffled } from '../statistics/random.ts';

/** One labelled pair as the model sees it. */
export interface FitRow {
  readonly signals: Float64Array;
  readonly same: boolean;
  /** How much the row counts, above 0. */
  readonly weight: number;
}

export interface FitOptions {
  readonly seed: number;
  /** +1 for each signal that raises the probability, -1 for one that lowers it. */
  readonly signs: readonly number[];
  /** Networks whose log odds are averaged; each sees the rows in an order, and starts from weights, of its own. */
  readonly networks?: number;
  /** Hidden units of each. */
  readonly units?: number;
  readonly epochs?: number;
  /** Signals that a network, counted from 0, does without. */
  readonly silent?: (network: number) => readonly number[];
  /** Pull of all weights towards 0. */
  readonly decay?: number;
}

/** Networks with the scaling of their signals. */
export interface Fit {
  readonly centre: readonly number[];
  readonly scale: readonly number[];
  readonly networks: readonly NetworkParameters[];
}

const BATCH = 64;
const RATE = 0.01;
const MOMENT_1 = 0.9;
const MOMENT_2 = 0.999;
const TINY = 1e-8;

/** Fits monotone networks to rows by weighted log loss: Adam, with every weight that must not be negative put back to 0. Repeatable. */
export function fitNetworks(rows: readonly FitRow[], options: FitOptions): Fit {
  const { seed, signs, networks = 5 } = options;
  const { centre, scale } = scaling(rows, signs.length);
  const inputs = rows.map(({ signals }) =>
    Float64Array.from(signs, (sign, at) => clamp((sign * ((signals[at] ?? 0) - (centre[at] ?? 0))) / (scale[at] ?? 1))),
  );
  const total = rows.reduce((sum, row) => sum + row.weight, 0) / rows.length;
  const targets = { inputs, same: rows.map((row) => row.same), weights: rows.map((row) => row.weight / total) };
  return {
    centre,
    scale,
    networks: Array.from({ length: networks }, (_, index) =>
      fitOne(targets, options.silent?.(index) ?? [], { ...options, seed: seed * 1_000 + index }),
    ),
  };
}

interface Targets {
  readonly inputs: readonly Float64Array[];
  readonly same: readonly boolean[];
  readonly weights: readonly number[];
}

function fitOne(targets: Targets, without: readonly number[], options: FitOptions): NetworkParameters {
  const { seed, signs, units = 6, epochs = 40, decay = 1e-3 } = options;
  const random = seededRandom(seed);
  const width = signs.length;
  const layout = layoutOf(units, width);
  const weights = initial(layout, random);
  const moments = { first: new Float64Array(layout.size), second: new Float64Array(layout.size) };
  const gradient = new Float64Array(layout.size);
  const active = new Float64Array(units);
  const batches = Math.ceil(targets.inputs.length / BATCH);
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    const order = shuffled([...targets.inputs.keys()], random);
    const rate = RATE * (1 - epoch / epochs);
    for (let batch = 0; batch < batches; batch += 1) {
      gradient.fill(0);
      const end = Math.min(order.length, (batch + 1) * BATCH);
      for (let at = batch * BATCH; at < end; at += 1)
        addGradient(targets, order[at] ?? 0, { layout, weights, gradient, active });
      step += 1;
      adam({ layout, weights, gradient, moments, rows: end - batch * BATCH, rate, decay, step });
      silence(layout, weights, without);
    }
  }
  return toNetwork(layout, weights);
}

/** Where each kind of weight lies in one flat array: rows of the hidden layer, direct weights, outputs, then what may be negative. */
interface Layout {
  readonly units: number;
  readonly width: number;
  readonly direct: number;
  readonly output: number;
  /** Weights from here on may be negative. */
  readonly free: number;
  readonly size: number;
}

function layoutOf(units: number, width: number): Layout {
  const direct = units * width;
  const output = direct + width;
  const free = output + units;
  return { units, width, direct, output, free, size: free + units + 1 };
}

function initial(layout: Layout, random: () => number): Float64Array {
  const weights = new Float64Array(layout.size);
  for (let at = 0; at < layout.free; at += 1) weights[at] = random() * 0.3;
  for (let at = layout.free; at < layout.size - 1; at += 1) weights[at] = random() * 2 - 1;
  return weights;
}

interface Pass {
  readonly layout: Layout;
  readonly weights: Float64Array;
  readonly gradient: Float64Array;
  readonly active: Float64Array;
}

function addGradient(targets: Targets, row: number, { layout, weights, gradient, active }: Pass): void {
  const { units, width, direct, output, free, size } = layout;
  const input = targets.inputs[row]!;
  let logOdds = weights[size - 1]!;
  for (let at = 0; at < width; at += 1) logOdds += weights[direct + at]! * input[at]!;
  for (let unit = 0; unit < units; unit += 1) {
    let sum = weights[free + unit]!;
    const from = unit * width;
    for (let at = 0; at < width; at += 1) sum += weights[from + at]! * input[at]!;
    const value = Math.tanh(sum);
    active[unit] = value;
    logOdds += weights[output + unit]! * value;
  }
  const error = (1 / (1 + Math.exp(-logOdds)) - (targets.same[row]! ? 1 : 0)) * targets.weights[row]!;
  gradient[size - 1]! += error;
  for (let at = 0; at < width; at += 1) gradient[direct + at]! += error * input[at]!;
  for (let unit = 0; unit < units; unit += 1) {
    const value = active[unit]!;
    gradient[output + unit]! += error * value;
    const back = error * weights[output + unit]! * (1 - value * value);
    gradient[free + unit]! += back;
    const from = unit * width;
    for (let at = 0; at < width; at += 1) gradient[from + at]! += back * input[at]!;
  }
}

function adam(state: {
  readonly layout: Layout;
  readonly weights: Float64Array;
  readonly gradient: Float64Array;
  readonly moments: { readonly first: Float64Array; readonly second: Float64Array };
  readonly rows: number;
  readonly rate: number;
  readonly decay: number;
  readonly step: number;
}): void {
  const { layout, weights, gradient, moments, rows, rate, decay, step } = state;
  const { first, second } = moments;
  const correct1 = 1 - MOMENT_1 ** step;
  const correct2 = 1 - MOMENT_2 ** step;
  for (let at = 0; at < layout.size; at += 1) {
    const slope = gradient[at]! / rows + (at < layout.free ? decay * weights[at]! : 0);
    first[at] = MOMENT_1 * first[at]! + (1 - MOMENT_1) * slope;
    second[at] = MOMENT_2 * second[at]! + (1 - MOMENT_2) * slope * slope;
    const moved = weights[at]! - (rate * (first[at]! / correct1)) / (Math.sqrt(second[at]! / correct2) + TINY);
    weights[at] = at < layout.free ? Math.max(0, moved) : moved;
  }
}

function silence({ units, width, direct }: Layout, weights: Float64Array, without: readonly number[]): void {
  for (const at of without) {
    weights[direct + at] = 0;
    for (let unit = 0; unit < units; unit += 1) weights[unit * width + at] = 0;
  }
}

function toNetwork({ units, width, direct, output, free, size }: Layout, weights: Float64Array): NetworkParameters {
  const slice = (from: number, to: number): number[] => Array.from(weights.subarray(from, to), rounded);
  return {
    hidden: Array.from({ length: units }, (_, unit) => slice(unit * width, (unit + 1) * width)),
    hiddenBias: slice(free, free + units),
    output: slice(output, output + units),
    direct: slice(direct, direct + width),
    bias: rounded(weights[size - 1]!),
  };
}

function scaling(rows: readonly FitRow[], width: number): { readonly centre: number[]; readonly scale: number[] } {
  const centre = Array.from({ length: width }, () => 0);
  const scale = Array.from({ length: width }, () => 0);
  for (const { signals } of rows) for (let at = 0; at < width; at += 1) centre[at]! += (signals[at] ?? 0) / rows.length;
  for (const { signals } of rows) {
    for (let at = 0; at < width; at += 1) scale[at]! += ((signals[at] ?? 0) - centre[at]!) ** 2 / rows.length;
  }
  return { centre: centre.map(rounded), scale: scale.map((variance) => rounded(Math.max(Math.sqrt(variance), 1e-3))) };
}

function clamp(value: number): number {
  return Math.min(SCALED_MAX, Math.max(-SCALED_MAX, value));
}

/** Short in a file, and the same wherever it is read. */
function rounded(value: number): number {
  return Number(value.toPrecision(5));
}
