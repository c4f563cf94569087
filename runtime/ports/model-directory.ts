import type { Model, Operation } from './model.ts';
import type { ModelRule } from './options.ts';

/** A model name resolved to the rule and upstream that serve it. */
export interface ResolvedModel {
  readonly rule: ModelRule;
  readonly upstream: string;
  readonly model: Model;
}

/** Which upstream serves a model name. */
export interface ModelDirectory {
  /** Fails with `model_not_found`, naming what there is. */
  resolve(name: string, operation: Operation): ResolvedModel;
  /** Names for `/v1/models`, sorted. */
  list(): Promise<readonly string[]>;
}
