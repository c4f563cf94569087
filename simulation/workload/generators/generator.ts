import type { Random } from '../../../runtime/ports/random.ts';
import type { TraceColumn, TraceRequest } from '../batch-builder.ts';
import type { SpecValues } from './spec-values.ts';

/** Requests without end; whoever reads stops. */
export type Requests = IterableIterator<TraceRequest>;

/** One kind of made-up workload with its settings: the same seed gives the same requests. */
export interface Generator {
  readonly columns: readonly TraceColumn[];
  requests(random: Random): Requests;
}

/** Reads a spec's values into a generator. `seed` is for what must not depend on the order of draws. */
export type GeneratorMaker = (values: SpecValues, seed: number) => Generator;
