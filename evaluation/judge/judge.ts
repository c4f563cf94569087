import type { Config } from '../../runtime/config/index.ts';
import type { Calibration } from '../../runtime/ports/calibration.ts';
import { normaliseAskedText } from '../../runtime/semantic/asked-text.ts';
import type { DomainPolicy } from '../../runtime/semantic/policies.ts';
import type { EmbedOptions, TextEmbedder } from '../embedding/text-embedder.ts';
import type { LabelledPair, PairFile } from '../pairs/labelled-pair.ts';
import { judgePair, preparePairs, type JudgedPair } from './judge-pairs.ts';
import { Policies } from './policies.ts';
import { summarise, type JudgeSummary } from './summary.ts';

export interface JudgeInput {
  readonly config: Config;
  /** Absent: probabilities aren't calibrated. */
  readonly calibration?: Calibration;
  readonly file: PairFile;
  /** Judges all pairs by this domain; absent: by the row's domain where the configuration has it, else by the rules. */
  readonly domain?: string;
  readonly embedder: TextEmbedder;
}

/** What `reprise judge` finds. */
export interface Judged {
  readonly pairs: readonly JudgedPair[];
  readonly summary: JudgeSummary;
}

/** Judges all pairs of a file as a node with this configuration would. */
export async function judge(input: JudgeInput, options: EmbedOptions = {}): Promise<Judged> {
  const { config, calibration, file, domain, embedder } = input;
  const policies = new Policies(config, calibration);
  const forced = domain === undefined ? undefined : policies.ofDomain(domain);
  const prepared = await preparePairs(file.pairs, embedder, options);
  const used = new Map<string, DomainPolicy>();
  const pairs = prepared.map((pair) => {
    const policy = forced ?? policyOf(policies, pair.pair);
    used.set(policy.name, policy);
    return judgePair(pair, policy);
  });
  const summary = summarise(pairs, {
    pairs: { path: file.path, hash: file.hash, count: file.pairs.length },
    embedderId: embedder.embedderId,
    policies: [...used.values()].map(({ name, similarityMin, probabilityMin, calibrated, guards }) => ({
      domain: name,
      similarityMin,
      probabilityMin,
      calibrated,
      guards,
    })),
  });
  return { pairs, summary };
}

function policyOf(policies: Policies, { domain, b }: LabelledPair): DomainPolicy {
  return domain !== null && policies.has(domain) ? policies.ofDomain(domain) : policies.ofText(normaliseAskedText(b));
}
