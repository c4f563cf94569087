export { clientSettings, embeddingEnvironment } from './client-settings.ts';
export type { ClientSettings } from './client-settings.ts';
export { withCalibration } from './calibrated.ts';
export type { CalibratedNode, DomainPromise } from './calibrated.ts';
export { DEMO_UPSTREAM } from './config.ts';
export { isLoopback } from './cross-checks.ts';
export type {
  Config,
  EmbedderConfig,
  GridConfig,
  IdentityConfig,
  KeyConfig,
  Origin,
  SemanticConfig,
  UpstreamConfig,
} from './config.ts';
export { describeConfig } from './describe.ts';
export type { DescribedConfig, DescribedSetting } from './describe.ts';
export { loadConfig } from './load.ts';
export type { LoadOptions } from './load.ts';
export type { Secret } from './secret.ts';
export type { Settings, SettingsInput } from './schema.ts';
export { parseBytes, parseDurationMs } from './units.ts';
