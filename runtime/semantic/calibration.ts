import { RepriseError } from '../errors.ts';
import type {
  CalibratedDomain,
  Calibration,
  CalibrationOrigin,
  EquivalenceParameters,
  NetworkParameters,
  TellingParameters,
  RarityParameters,
} from '../ports/calibration.ts';
import { SIGNALS } from './signals.ts';

const NETWORKS_MAX = 64;
const UNITS_MAX = 256;
const LEVELS_MAX = 32;
const TELLING_LEVELS_MAX = 256;

/**
 * The calibration that a JSON value holds. Throws `config_invalid` naming the first field that is wrong. Whether embedder and features
 * are those in use is for the caller to compare.
 */
export function parseCalibration(value: unknown): Calibration {
  const at = new Reader('calibration', value);
  if (at.number('version') !== 1) throw at.wrong('version', 'must be 1');
  return {
    version: 1,
    embedderId: at.text('embedderId'),
    featureVersion: at.number('featureVersion'),
    equivalence: parseEquivalence(at.child('equivalence')),
    domains: Object.fromEntries(
      at
        .child('domains')
        .children()
        .map(([name, domain]) => [name, parseDomain(domain)]),
    ),
    origin: parseOrigin(at.child('origin')),
  };
}

function parseEquivalence(at: Reader): EquivalenceParameters {
  if (at.text('kind') !== 'monotone-networks') throw at.wrong('kind', 'must be monotone-networks');
  const signals = at.texts('signals');
  const count = SIGNALS.length;
  if (signals.length !== count || signals.some((name, index) => name !== SIGNALS[index]?.name)) {
    throw at.wrong('signals', 'must be the signals that this version computes, in their order');
  }
  const scale = at.numbers('scale', { length: count });
  if (scale.some((value) => value <= 0)) throw at.wrong('scale', 'must be above 0');
  const networks = at.children('networks').map(([, network]) => parseNetwork(network, count));
  if (networks.length === 0 || networks.length > NETWORKS_MAX)
    throw at.wrong('networks', `must be 1 to ${NETWORKS_MAX}`);
  const slope = at.number('slope');
  if (slope <= 0) throw at.wrong('slope', 'must be above 0');
  return {
    kind: 'monotone-networks',
    signals,
    centre: at.numbers('centre', { length: count }),
    scale,
    networks,
    slope,
    offset: at.number('offset'),
    rarity: parseRarity(at.child('rarity')),
  };
}

function parseNetwork(at: Reader, count: number): NetworkParameters {
  const hiddenBias = at.numbers('hiddenBias');
  const units = hiddenBias.length;
  if (units > UNITS_MAX) throw at.wrong('hiddenBias', `must have at most ${UNITS_MAX} units`);
  const rows = at.child('hidden');
  const hidden = Array.from({ length: units }, (_, unit) => rows.numbers(String(unit), { length: count, min: 0 }));
  return {
    hidden,
    hiddenBias,
    output: at.numbers('output', { length: units, min: 0 }),
    direct: at.numbers('direct', { length: count, min: 0 }),
    bias: at.number('bias'),
  };
}

function parseRarity(at: Reader): RarityParameters {
  const levels = at.texts('levels');
  if (levels.length > LEVELS_MAX) throw at.wrong('levels', `must have at most ${LEVELS_MAX}`);
  const telling = at.has('telling') ? { telling: parseTelling(at.child('telling')) } : {};
  return { texts: at.number('texts'), levels, ...telling };
}

function parseTelling(at: Reader): TellingParameters {
  const levels = at.texts('levels');
  if (levels.length > TELLING_LEVELS_MAX) throw at.wrong('levels', `must have at most ${TELLING_LEVELS_MAX}`);
  return { step: at.number('step', 0), levels, unknown: at.number('unknown', 0) };
}

function parseDomain(at: Reader): CalibratedDomain {
  const counts = at.child('counts');
  const equivalence = at.has('equivalence') ? { equivalence: parseEquivalence(at.child('equivalence')) } : {};
  return {
    similarityMin: at.number('similarityMin', -1, 1),
    probabilityMin: at.number('probabilityMin', 0, 1),
    wrongAtMost: at.number('wrongAtMost', 0, 1),
    confidence: at.number('confidence', 0, 1),
    method: at.text('method'),
    counts: {
      pairs: counts.number('pairs', 0),
      negatives: counts.number('negatives', 0),
      positives: counts.number('positives', 0),
      wrong: counts.number('wrong', 0),
      right: counts.number('right', 0),
    },
    dataHash: at.text('dataHash'),
    ...equivalence,
  };
}

function parseOrigin(at: Reader): CalibrationOrigin {
  const counts = at.child('counts');
  return {
    command: at.text('command'),
    seed: at.number('seed'),
    dataHash: at.text('dataHash'),
    counts: Object.fromEntries(counts.names().map((name) => [name, counts.number(name, 0)])),
  };
}

/** Reads fields of a parsed JSON object by type; what is wrong is named by its path. */
class Reader {
  readonly #path: string;
  readonly #value: Readonly<Record<string, unknown>>;

  constructor(path: string, value: unknown) {
    this.#path = path;
    if (typeof value !== 'object' || value === null) throw invalid(path, 'must be an object');
    this.#value = value as Readonly<Record<string, unknown>>;
  }

  has(name: string): boolean {
    return this.#of(name) !== undefined;
  }

  wrong(name: string, what: string): RepriseError {
    return invalid(`${this.#path}.${name}`, what);
  }

  child(name: string): Reader {
    return new Reader(`${this.#path}.${name}`, this.#of(name));
  }

  names(): readonly string[] {
    return Object.keys(this.#value);
  }

  /** Members of this object or, by name, of a member of it. */
  children(name?: string): readonly (readonly [string, Reader])[] {
    if (name !== undefined) return this.child(name).children();
    return Object.keys(this.#value).map((key) => [key, this.child(key)] as const);
  }

  text(name: string): string {
    const value = this.#of(name);
    if (typeof value !== 'string') throw this.wrong(name, 'must be a string');
    return value;
  }

  number(name: string, min = -Infinity, max = Infinity): number {
    const value = this.#of(name);
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.wrong(name, 'must be a finite number');
    if (value < min || value > max) throw this.wrong(name, `must be ${min} to ${max}`);
    return value;
  }

  texts(name: string): readonly string[] {
    const value = this.#of(name);
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      throw this.wrong(name, 'must be a list of strings');
    }
    return value;
  }

  numbers(name: string, bounds: { readonly length?: number; readonly min?: number } = {}): readonly number[] {
    const value = this.#of(name);
    const { length, min = -Infinity } = bounds;
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'number' && Number.isFinite(item))) {
      throw this.wrong(name, 'must be a list of finite numbers');
    }
    const numbers = value as readonly number[];
    if (length !== undefined && numbers.length !== length) throw this.wrong(name, `must have ${length} numbers`);
    if (numbers.some((item) => item < min)) throw this.wrong(name, `must not be below ${min}`);
    return numbers;
  }

  #of(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }
}

function invalid(path: string, what: string): RepriseError {
  return new RepriseError('config_invalid', `${path} ${what}.`);
}
