import { DEFAULT_DOMAIN } from '../node/defaults.ts';
import type { CalibratedDomain, Calibration } from '../ports/calibration.ts';
import type { DomainOptions, LexiconOptions, NamespaceOptions, NodeOptions, SemanticMode } from '../ports/options.ts';
import type { Config } from './config.ts';
import { domainSettings, type NamedDomainSettings } from './presets.ts';
import { DEFAULT_DOMAIN_SETTINGS, type Settings } from './schema.ts';

/** What a domain can be relied on for, in words. */
export interface DomainPromise {
  readonly domain: string;
  readonly calibrated: boolean;
  readonly text: string;
}

/** The options of a node on a calibration, and what that lets it promise. */
export interface CalibratedNode {
  readonly node: NodeOptions;
  readonly promises: readonly DomainPromise[];
}

/**
 * What the node is told once its embedder is known. `calibration` must be made for that embedder; without one the configured minima hold
 * alone, and namespaces whose mode is automatic observe, but for the demo model.
 */
export function withCalibration(config: Config, calibration: Calibration | undefined): CalibratedNode {
  const settings = Object.entries(withCalibratedOnly(domainSettings(config.settings), calibration));
  const domains = Object.fromEntries(settings.map(([name, own]) => [name, compileDomain(name, own, calibration)]));
  const promises = settings.map(([name, own]) => promiseOf(name, own, domains[name], calibration));
  const anyCalibrated = promises.some((promise) => promise.calibrated);
  const namespaces = Object.entries(config.node.namespaces).map(([name, namespace]): [string, NamespaceOptions] => [
    name,
    config.semantic.automaticNamespaces.includes(name) ? automatic(namespace, config, anyCalibrated) : namespace,
  ]);
  return {
    node: {
      ...config.node,
      domains,
      namespaces: Object.fromEntries(namespaces),
      ...(calibration === undefined ? {} : { calibration }),
    },
    promises,
  };
}

/** A domain that only the calibration has takes its other settings from `default`. */
function withCalibratedOnly(
  domains: Readonly<Record<string, NamedDomainSettings>>,
  calibration: Calibration | undefined,
): Readonly<Record<string, NamedDomainSettings>> {
  const base: NamedDomainSettings = domains['default'] ?? DEFAULT_DOMAIN_SETTINGS;
  const own = { ...base, similarityMin: 'auto', probabilityMin: 'auto', calibration: 'auto' } as const;
  const names = Object.keys(calibration?.domains ?? {}).filter((name) => !Object.hasOwn(domains, name));
  return { ...domains, ...Object.fromEntries(names.map((name) => [name, own])) };
}

function automatic(namespace: NamespaceOptions, config: Config, anyCalibrated: boolean): NamespaceOptions {
  const mode = automaticMode(config.settings);
  if (mode === 'serve' || !anyCalibrated) return { ...namespace, semantic: mode };
  return { ...namespace, semantic: 'serve', calibratedOnly: true };
}

/** The mode of automatic namespaces while nothing is calibrated. */
export function automaticMode(settings: Settings): SemanticMode {
  return Object.keys(settings.upstreams).length === 0 ? 'serve' : 'observe';
}

/** A domain's options. Configured minima hold where they are stricter than the calibrated ones. */
export function compileDomain(name: string, own: NamedDomainSettings, calibration?: Calibration): DomainOptions {
  const found = calibratedFor(name, own, calibration);
  const similarityMin = own.similarityMin === 'auto' ? undefined : own.similarityMin;
  const probabilityMin = own.probabilityMin === 'auto' ? undefined : own.probabilityMin;
  return {
    similarityMin:
      found === undefined
        ? (similarityMin ?? own.referenceMin ?? DEFAULT_DOMAIN.similarityMin)
        : Math.max(similarityMin ?? 0, found.domain.similarityMin),
    probabilityMin:
      found === undefined
        ? (probabilityMin ?? DEFAULT_DOMAIN.probabilityMin)
        : Math.max(probabilityMin ?? 0, found.domain.probabilityMin),
    guards: own.guards,
    ...lexiconOf(own),
    ...(own.verifiedMin === 'off' ? {} : { verifiedMin: own.verifiedMin }),
    ...(found !== undefined && { calibratedAs: found.name }),
    ...(found === undefined && own.uncalibrated === 'observe' && { observeOnly: true }),
  };
}

function lexiconOf({ lexicon }: NamedDomainSettings): { readonly lexicon?: LexiconOptions } {
  return Object.values(lexicon).every((words) => words.length === 0) ? {} : { lexicon };
}

function calibratedFor(
  name: string,
  { calibration: named }: NamedDomainSettings,
  calibration: Calibration | undefined,
): { readonly name: string; readonly domain: CalibratedDomain } | undefined {
  if (calibration === undefined || named === 'off') return undefined;
  for (const candidate of named === 'auto' ? [name, 'default'] : [named]) {
    const domain = Object.hasOwn(calibration.domains, candidate) ? calibration.domains[candidate] : undefined;
    if (domain !== undefined) return { name: candidate, domain };
  }
  return undefined;
}

function promiseOf(
  name: string,
  own: NamedDomainSettings,
  options: DomainOptions | undefined,
  calibration: Calibration | undefined,
): DomainPromise {
  const found = calibratedFor(name, own, calibration);
  if (found === undefined || options === undefined) {
    const serves = own.uncalibrated === 'observe' ? 'semantic stays in observe' : 'nothing is promised';
    return { domain: name, calibrated: false, text: `${name}: not calibrated for this embedder: ${serves}` };
  }
  const { wrongAtMost, confidence, method, counts } = found.domain;
  const as = found.name === name ? '' : ` (as ${found.name})`;
  const text =
    `${name}${as}: at most ${percent(wrongAtMost)} of wrong pairs served, with ${percent(confidence)} confidence, where pairs are as those it was calibrated on ` +
    `(${method}; held out: ${counts.wrong} of ${counts.negatives} wrong and ${counts.right} of ${counts.positives} right pairs served); ` +
    `similarity from ${round(options.similarityMin)}, probability from ${round(options.probabilityMin)}`;
  return { domain: name, calibrated: true, text };
}

function percent(share: number): string {
  return `${round(share * 100)} %`;
}

function round(value: number): string {
  return String(Number(value.toFixed(4)));
}
