import { RepriseError } from '../errors.ts';
import {
  canonicalRequest,
  type CanonicalRequest,
  type RequestFacts,
  type RequestRules,
} from '../cache/canonical-request.ts';
import { deriveKey, deriveScope, type KeyParts } from '../cache/key.ts';
import { compileBlankRules } from '../cache/canonical-rules.ts';
import type { Ledger } from '../cache/ledger.ts';
import type { RememberedRequest, RequestMemo } from '../cache/request-memo.ts';
import type { ReadTerms } from '../cache/tiers.ts';
import { NEVER_CANCELLED } from '../ports/cancel-signal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Hash } from '../ports/hash.ts';
import type { LedgerPosition } from '../ports/ledger.ts';
import { isName, NAME_RULE } from '../ports/names.ts';
import type { ModelDirectory, ResolvedModel } from '../ports/model-directory.ts';
import type { NamespaceOptions, NodeOptions } from '../ports/options.ts';
import type { Random } from '../ports/random.ts';
import type { CacheControls, Identity } from '../ports/service.ts';
import type { Model, Operation } from '../ports/model.ts';
import { Domains, type ChosenDomain } from './domains.ts';
import type { RecordNote } from './recorder.ts';

/** Where the signal is read from, late: making one costs more than a hit. */
interface SignalSource {
  readonly signal?: AbortSignal;
}

/** What a request is, once understood: its key, its scope and the terms on which the cache may serve and store it. */
export interface Prepared {
  readonly operation: Operation;
  readonly identity: Identity;
  readonly controls: CacheControls;
  readonly source: SignalSource;
  readonly traceparent: string | undefined;
  readonly facts: RequestFacts;
  readonly resolved: ResolvedModel;
  readonly namespaceName: string;
  readonly namespace: NamespaceOptions;
  /** Chosen when first asked for, since an exact hit needs none: by the rules, by the namespace, or stricter by the caller. */
  readonly domain: () => ChosenDomain;
  readonly parts: KeyParts;
  readonly key: string;
  /** Derived when first asked for, which an exact hit doesn't; empty when the request takes no part in semantic reuse. */
  readonly scope: () => string;
  readonly terms: ReadTerms;
  readonly ttlMs: number;
  /** Why no tier is used at all; empty when tiers are. */
  readonly bypass: string;
  /** Ledger position and epoch at the start of the request. */
  readonly position: LedgerPosition | undefined;
  readonly epoch: number;
  /** Monotonic. */
  readonly startedAtMs: number;
  /** The effective request; parsed again when the memo spared it. */
  readonly canonical: () => CanonicalRequest;
  /** While a recording is under way: what it will say of this request. */
  recorded: RecordNote | undefined;
}

/** The request's signal; one that is never aborted where it has none. */
export function signalOf(prepared: Prepared): AbortSignal {
  return prepared.source.signal ?? NEVER_CANCELLED;
}

interface Understood {
  readonly facts: RequestFacts;
  readonly canonical: () => CanonicalRequest;
  /** Where the memo knew the body. */
  readonly remembered: RememberedRequest | undefined;
}

interface PrepareInput {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly identity: Identity;
  readonly controls: CacheControls;
  readonly signal?: AbortSignal;
  readonly traceparent?: string;
  readonly model?: Model;
}

const RULES_KEPT_MAX = 1_024;

export interface PreparerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly hash: Hash;
  readonly ledger: Ledger;
  readonly models: ModelDirectory;
  readonly memo: RequestMemo | undefined;
  /** False where there is no semantic matching: no scope is derived. */
  readonly scoped: boolean;
}

/** Turns requests into `Prepared` ones: step 1 of the way of a request. */
export class Preparer {
  readonly #deps: PreparerDeps;
  readonly #options: NodeOptions;
  readonly #rules = new Map<string, RequestRules>();
  readonly #domains: Domains;

  /** Fails with `config_invalid` on a blank rule that can't be used. */
  constructor(deps: PreparerDeps, options: NodeOptions) {
    this.#deps = { ...deps, random: deps.random.fork('sampling-bucket') };
    this.#options = options;
    this.#domains = new Domains(options);
    for (const namespace of Object.values(options.namespaces)) compileBlankRules(namespace.blank);
  }

  /** `startedAtMs`: when the request came; monotonic. */
  prepare(input: PrepareInput, startedAtMs: number = this.#deps.clock.monotonicMs()): Prepared {
    const { hash, ledger } = this.#deps;
    const { facts, canonical, remembered } = this.#understand(input);
    const controls = mergeControls(facts.bodyControls, input.controls);
    const routed = this.#deps.models.resolve(facts.askedModel, input.operation);
    const resolved = input.model === undefined ? routed : { ...routed, model: input.model };
    const namespaceName = controls.namespace ?? this.#options.defaultNamespace;
    const namespace = this.#namespace(namespaceName);
    const parts: KeyParts = {
      tenant: input.identity.tenant,
      namespace: namespaceName,
      tags: controls.tags ?? [],
      operation: input.operation,
      model: facts.model,
      modelVersion: `${resolved.upstream}#${resolved.rule.version}`,
      bucket: this.#bucket(facts, namespace, controls),
    };
    if (controls.domain !== undefined) this.#domains.check(controls.domain);
    let scope: string | undefined;
    let domain: ChosenDomain | undefined;
    return {
      operation: input.operation,
      identity: input.identity,
      controls,
      source: input,
      traceparent: input.traceparent,
      facts,
      resolved,
      namespaceName,
      namespace,
      domain: () =>
        (domain ??= this.#domains.choose({
          namespace: namespaceName,
          model: facts.askedModel,
          text: facts.askedText,
          fallback: namespace.domain,
          asked: controls.domain,
        })),
      parts,
      key: keyOf(hash, parts, facts, remembered),
      scope: () => (scope ??= facts.scopeBodyHash === '' ? '' : deriveScope(hash, parts, facts.scopeBodyHash)),
      terms: {
        strict: namespace.strict,
        maxAgeMs: Math.min(controls.maxAgeMs ?? Infinity, controls.ttlMs ?? Infinity),
        graceAllowed: namespace.graceMs > 0,
      },
      ttlMs: controls.ttlMs ?? namespace.ttlMs,
      bypass: this.#bypass(facts, namespace, input.identity),
      position: ledger.position,
      epoch: ledger.epoch,
      startedAtMs,
      canonical,
      recorded: undefined,
    };
  }

  /** Facts by the memo, or by parsing. */
  #understand(input: PrepareInput): Understood {
    const { memo, hash } = this.#deps;
    if (input.body.byteLength > this.#options.bodyBytesMax) {
      throw new RepriseError(
        'body_too_large',
        `The body has ${input.body.byteLength} bytes; at most ${this.#options.bodyBytesMax} are accepted (server.bodyBytesMax).`,
      );
    }
    let parsed: CanonicalRequest | undefined;
    const canonical = (): CanonicalRequest => (parsed ??= this.#parse(input));
    // Embeddings are keyed by item: their body is parsed whatever the memo knows.
    if (memo === undefined || input.operation === 'embeddings') {
      return { facts: canonical().facts, canonical, remembered: undefined };
    }
    const bodyHash = hash.sha256Hex(input.body);
    const headerNamespace = input.controls.namespace ?? '';
    const remembered = memo.get(bodyHash, input.operation, headerNamespace);
    if (remembered !== undefined) return { facts: remembered.facts, canonical, remembered };
    const { facts } = canonical();
    memo.put(bodyHash, input.operation, headerNamespace, facts);
    return { facts, canonical, remembered: undefined };
  }

  #parse(input: PrepareInput): CanonicalRequest {
    return canonicalRequest({
      operation: input.operation,
      body: input.body,
      headerNamespace: input.controls.namespace,
      rulesFor: (askedModel, namespace) => this.#rulesFor(askedModel, namespace, input.operation),
      hash: this.#deps.hash,
      depthMax: this.#options.jsonDepthMax,
    });
  }

  #rulesFor(askedModel: string, namespaceName: string | undefined, operation: Operation): RequestRules {
    const name = namespaceName ?? this.#options.defaultNamespace;
    const { rule, upstream } = this.#deps.models.resolve(askedModel, operation);
    const id = JSON.stringify([rule.match, upstream, name]);
    const known = this.#rules.get(id);
    if (known !== undefined) return known;
    const namespace = this.#namespace(name);
    const rules: RequestRules = {
      id,
      model: { as: rule.as, defaults: rule.defaults, overrides: rule.overrides },
      blank: namespace.blank,
      isolateUser: namespace.isolateUser,
      scoped: this.#deps.scoped && namespace.semantic !== 'off',
    };
    if (this.#rules.size >= RULES_KEPT_MAX) this.#rules.clear();
    this.#rules.set(id, rules);
    return rules;
  }

  #namespace(name: string): NamespaceOptions {
    const { namespaces, defaultNamespace } = this.#options;
    const own = Object.hasOwn(namespaces, name) ? namespaces[name] : namespaces[defaultNamespace];
    if (own === undefined)
      throw new RepriseError('config_invalid', 'The default namespace has no settings; add it under `namespaces`.');
    return own;
  }

  #bucket(facts: RequestFacts, namespace: NamespaceOptions, controls: CacheControls): number {
    if (!facts.unseededSampling || namespace.sampling.kind !== 'buckets') return controls.bucket ?? -1;
    const { count } = namespace.sampling;
    if (controls.bucket === undefined) return Math.floor(this.#deps.random.float() * count);
    if (controls.bucket < count) return controls.bucket;
    throw new RepriseError('invalid_control', `The bucket must be below ${count} in this namespace.`, {
      param: 'bucket',
    });
  }

  #bypass(facts: RequestFacts, namespace: NamespaceOptions, identity: Identity): string {
    if (!identity.verified) return 'unverified';
    if (facts.bypassField !== '') return 'stateful';
    if (facts.unseededSampling && namespace.sampling.kind === 'bypass') return 'sampling';
    if (this.#deps.ledger.position === undefined) return 'ledger';
    return '';
  }
}

/** The key; remembered with the body, since one body mostly comes from one tenant. */
function keyOf(hash: Hash, parts: KeyParts, facts: RequestFacts, remembered: RememberedRequest | undefined): string {
  const derived = remembered?.derived;
  if (derived !== undefined && sameParts(derived.parts, parts)) return derived.key;
  const key = deriveKey(hash, parts, facts.bodyHash);
  if (remembered !== undefined && parts.tags.length === 0) remembered.derived = { parts, key };
  return key;
}

/** For parts without tags. */
function sameParts(a: KeyParts, b: KeyParts): boolean {
  return (
    b.tags.length === 0 &&
    a.tenant === b.tenant &&
    a.namespace === b.namespace &&
    a.bucket === b.bucket &&
    a.operation === b.operation &&
    a.model === b.model &&
    a.modelVersion === b.modelVersion
  );
}

/** Headers win over the body's `cache` object; refusals add up. */
function mergeControls(body: CacheControls, header: CacheControls): CacheControls {
  if (isEmpty(body) && isEmpty(header)) return NO_CONTROLS;
  const given = Object.entries(header).filter(([, value]) => value !== undefined);
  const merged: CacheControls = {
    ...body,
    ...(Object.fromEntries(given) as CacheControls),
    noCache: body.noCache === true || header.noCache === true,
    noStore: body.noStore === true || header.noStore === true,
    onlyIfCached: body.onlyIfCached === true || header.onlyIfCached === true,
  };
  for (const [name, isRight, wanted] of CONTROL_CHECKS) {
    if (merged[name] === undefined || isRight(merged[name])) continue;
    throw new RepriseError('invalid_control', `The control '${name}' must be ${wanted}.`, { param: name });
  }
  return merged;
}

const NO_CONTROLS: CacheControls = Object.freeze({ noCache: false, noStore: false, onlyIfCached: false });

function isEmpty(controls: CacheControls): boolean {
  for (const _name in controls) return false;
  return true;
}

const isAtLeast = (least: number) => (value: unknown) => typeof value === 'number' && value >= least;

/** What servers check at the edge holds in process too. */
const CONTROL_CHECKS: readonly (readonly [keyof CacheControls, (value: unknown) => boolean, string])[] = [
  ['namespace', isName, `a name: ${NAME_RULE}`],
  ['domain', isName, `a name: ${NAME_RULE}`],
  ['bucket', (value) => Number.isInteger(value) && isAtLeast(0)(value), 'a whole number from 0 on'],
  ['tags', (value) => Array.isArray(value) && value.every(isName), `a list of names: ${NAME_RULE}`],
  ['ttlMs', isAtLeast(1), 'a number of milliseconds from 1 on'],
  ['maxAgeMs', isAtLeast(0), 'a number of milliseconds from 0 on'],
  ['threshold', (value) => isAtLeast(0)(value) && (value as number) <= 1, 'a number from 0 to 1'],
];
