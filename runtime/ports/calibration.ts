/** One monotone network: a hidden layer of `tanh` units over the scaled signals, summed up into log odds. */
export interface NetworkParameters {
  /** A row for each hidden unit, a column for each signal; none is below 0, which makes the network monotone. */
  readonly hidden: readonly (readonly number[])[];
  readonly hiddenBias: readonly number[];
  /** A weight for each hidden unit; none is below 0. */
  readonly output: readonly number[];
  /** A weight for each signal straight into the log odds; none is below 0. */
  readonly direct: readonly number[];
  readonly bias: number;
}

/** What `reprise train` fits: how signals of a pair become a probability. */
export interface EquivalenceParameters {
  readonly kind: 'monotone-networks';
  /** Names of the signals in the order of all the lists below. */
  readonly signals: readonly string[];
  /** Each signal is used as (value - centre) / scale. */
  readonly centre: readonly number[];
  readonly scale: readonly number[];
  /** The mean of their log odds counts. */
  readonly networks: readonly NetworkParameters[];
  /** Log odds become a probability after `slope * logOdds + offset`; the slope is above 0. */
  readonly slope: number;
  readonly offset: number;
  readonly rarity: RarityParameters;
}

/** In how many texts each word stem came. */
export interface RarityParameters {
  readonly texts: number;
  /** Space-separated stems by level: those of level i came in at least 1/2^(i+1) of the texts; stems in no level are rare. */
  readonly levels: readonly string[];
  /** Absent: no word tells more than its rarity does. */
  readonly telling?: TellingParameters;
}

/** How much each word stem says against a pair when only one of its texts has it; learned from a domain's own pairs. */
export interface TellingParameters {
  /** Log odds of one level. */
  readonly step: number;
  /** Space-separated stems by level: those of level i say `i * step`. */
  readonly levels: readonly string[];
  /** What a stem in no level says, in log odds. */
  readonly unknown: number;
}

/** What `reprise calibrate` fits for one domain, and what it promises. */
export interface CalibratedDomain {
  readonly similarityMin: number;
  readonly probabilityMin: number;
  /** Bound of the share of wrong pairs that are served, 0 to 1. */
  readonly wrongAtMost: number;
  /** With which the bound holds, 0 to 1. */
  readonly confidence: number;
  readonly method: string;
  readonly counts: {
    readonly pairs: number;
    readonly negatives: number;
    readonly positives: number;
    /** Wrong pairs served on the held-out folds. */
    readonly wrong: number;
    /** Right pairs served on the held-out folds. */
    readonly right: number;
  };
  readonly dataHash: string;
  /** Coefficients of this domain's own pairs, in place of the shared ones. */
  readonly equivalence?: EquivalenceParameters;
}

/** Where parameters come from. */
export interface CalibrationOrigin {
  readonly command: string;
  readonly seed: number;
  readonly dataHash: string;
  /** Pairs by source. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Content of `calibration/<embedder>.json`. */
export interface Calibration {
  readonly version: 1;
  /** Id of the embedder whose similarities the parameters are about. */
  readonly embedderId: string;
  /** `FEATURE_VERSION` of the features that they were fitted to. */
  readonly featureVersion: number;
  readonly equivalence: EquivalenceParameters;
  readonly domains: Readonly<Record<string, CalibratedDomain>>;
  readonly origin: CalibrationOrigin;
}
