import type { Config, UpstreamConfig } from '../config/config.ts';
import { DEMO_UPSTREAM } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Model } from '../ports/model.ts';
import type { ModelRule } from '../ports/options.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { DEFAULT_DEMO_MODEL_OPTIONS, DemoModel } from './demo-model.ts';
import { ModelRouter } from './model-router.ts';
import { DEFAULT_OPENAI_HTTP_OPTIONS, OpenAiHttpModel } from './openai-http.ts';
import type { OpenAiHttpOptions } from './openai-http.ts';

/** Upstreams that come from elsewhere than the configuration, and the rules that lead to them, after every configured one. */
export interface FurtherModels {
  readonly upstreams: ReadonlyMap<string, Model>;
  readonly rules: readonly ModelRule[];
  /** Instead of the configured default upstream. */
  readonly defaultUpstream?: string;
}

const NONE: FurtherModels = { upstreams: new Map(), rules: [] };

/** The upstreams of a configuration, the demo model among them, with the rules that lead to them. Errors: `config_invalid`. */
export function configuredModels(
  config: Pick<Config, 'upstreams' | 'demo' | 'defaultUpstream' | 'node'>,
  deps: { readonly clock: Clock; readonly telemetry: Telemetry },
  further: FurtherModels = NONE,
): ModelRouter {
  const upstreams = new Map<string, Model>();
  for (const [name, upstream] of Object.entries(config.upstreams)) {
    upstreams.set(name, new OpenAiHttpModel(deps, openAiHttpOptions(upstream)));
  }
  if (config.demo.enabled) {
    const { firstTokenMs, perTokenMs } = config.demo;
    upstreams.set(DEMO_UPSTREAM, new DemoModel(deps, { ...DEFAULT_DEMO_MODEL_OPTIONS, firstTokenMs, perTokenMs }));
  }
  for (const [name, model] of further.upstreams) upstreams.set(name, model);
  return new ModelRouter({
    rules: [...config.node.models, ...further.rules],
    upstreams,
    defaultUpstream: further.defaultUpstream ?? config.defaultUpstream,
  });
}

function openAiHttpOptions({ apiKey, ...upstream }: UpstreamConfig): OpenAiHttpOptions {
  return { ...DEFAULT_OPENAI_HTTP_OPTIONS, ...upstream, apiKey: apiKey?.reveal() ?? '' };
}
