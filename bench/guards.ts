import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance, PerformanceObserver } from 'node:perf_hooks';
import { loadConfig } from '../runtime/config/index.ts';
import { openEmbedder } from '../runtime/host/embedding/open-embedder.ts';
import { SystemClock } from '../runtime/host/system-clock.ts';
import { HostTelemetry } from '../runtime/host/telemetry.ts';
import type { Embedder, Embedding } from '../runtime/ports/embedder.ts';
import { normaliseAskedText } from '../runtime/semantic/asked-text.ts';
import { parseCalibration } from '../runtime/semantic/calibration.ts';
import { decidePair, type PairPolicy } from '../runtime/semantic/decide.ts';
import { MonotoneEquivalence, UNCALIBRATED } from '../runtime/semantic/equivalence.ts';
import { GUARD_NAMES } from '../runtime/semantic/guards/guards.ts';
import { PLAIN_LEXICON } from '../runtime/semantic/lexicons/domain-lexicon.ts';
import { pairSide, type PairSide } from '../runtime/semantic/pair-side.ts';

/** One measured thing, microseconds; `P50` and `P99` by the wall clock, `WithoutPauses` less the collector's pauses that fell into it. */
export interface Timing {
  readonly samples: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p99WithoutPausesUs: number;
}

/** What extraction and decision take on the machine at hand. */
export interface GuardsResult {
  /** Where the texts come from. */
  readonly texts: string;
  readonly charactersP50: number;
  /** True where the texts had word vectors, as in a node with an embedder. */
  readonly wordVectors: boolean;
  readonly calibrated: boolean;
  readonly candidates: number;
  /** Reading a text that was never seen. */
  readonly extract: Timing;
  /** Deciding about one near candidate whose side is ready, as the side cache of a node has it. */
  readonly decide: Timing;
  /** Reading a text and deciding about its candidates until one serves. */
  readonly lookUp: Timing;
  /** The same in CPU time of the process, which other programs on the machine don't lengthen. */
  readonly lookUpCpu: Pick<Timing, 'p50Us' | 'p99Us'>;
  readonly embedding?: Timing;
  /** Pauses of the collector while looking up. */
  readonly pauses: { readonly count: number; readonly p50Us: number; readonly maxUs: number };
}

const TEXTS_MAX = 1_200;
const ASKED_MAX = 400;
const CANDIDATES = 8;
const WARM_ROUNDS = 4;
const ROUNDS = 6;
const EMBEDDINGS = 200;
const EMBED_BATCH = 64;
const DEADLINE_MS = 60_000;
/** Column of the first text of a pair. */
const PAIR_FROM = 4;
const DATA = process.env['REPRISE_TEST_DATA'] ?? join('..', 'shared', 'data');

interface Asked {
  readonly text: string;
  readonly embedded: Embedding | undefined;
  readonly candidates: readonly { readonly side: PairSide; readonly similarity: number }[];
}

/** Measures texts of real length against the stored ones that share most words with them. */
export async function measureGuards(): Promise<GuardsResult> {
  const { name, texts } = readTexts();
  const embedder = await anEmbedder();
  const embedded = embedder === undefined ? [] : await embedAll(embedder, texts);
  const embedding = embedder === undefined ? undefined : await timeEmbeddings(embedder, texts);
  const policy = policyOf(embedder?.id);
  const asked = askedTexts(texts, embedded, policy.similarityMin);
  await embedder?.close();
  for (let round = 0; round < WARM_ROUNDS; round += 1) for (const one of asked) lookUp(one, policy);
  const times = await timeAll(asked, policy);
  const lengths = texts.map(({ length }) => length);
  return {
    texts: name,
    charactersP50: quantile(lengths, 0.5),
    wordVectors: embedder !== undefined,
    calibrated: policy.equivalence.calibrated,
    candidates: CANDIDATES,
    ...times,
    ...(embedding === undefined ? {} : { embedding }),
  };
}

/** Test questions of CLINC150 where the data is here, else the project's own pairs. */
function readTexts(): { readonly name: string; readonly texts: readonly string[] } {
  const path = join(DATA, 'text', 'clinc150.json');
  const isThere = existsSync(path);
  const file = isThere ? path : join(import.meta.dirname, '..', 'evaluation', 'own-pairs', 'questions.tsv');
  const content = readFileSync(file, 'utf8');
  const texts = isThere
    ? (JSON.parse(content) as { readonly test: readonly (readonly [string, string])[] }).test.map(([text]) => text)
    : content
        .split('\n')
        .slice(1)
        .flatMap((line) => line.split('\t').slice(PAIR_FROM, PAIR_FROM + 2));
  const distinct = [...new Set(texts.map(normaliseAskedText))].filter((text) => text !== '');
  return { name: isThere ? 'clinc150 (test)' : 'own-pairs', texts: distinct.slice(0, TEXTS_MAX) };
}

async function anEmbedder(): Promise<Embedder | undefined> {
  const { embedder } = loadConfig({ file: false, env: {} });
  const opened = await openEmbedder(embedder, {
    clock: new SystemClock(),
    telemetry: new HostTelemetry({ logLevel: 'error' }),
  });
  return 'missing' in opened ? undefined : opened;
}

async function embedAll(embedder: Embedder, texts: readonly string[]): Promise<readonly Embedding[]> {
  const embedded: Embedding[] = [];
  for (let at = 0; at < texts.length; at += EMBED_BATCH) {
    embedded.push(...(await embedder.embed(texts.slice(at, at + EMBED_BATCH), deadline())));
  }
  return embedded;
}

function deadline(): { readonly deadlineAtMs: number } {
  return { deadlineAtMs: performance.now() + DEADLINE_MS };
}

function policyOf(embedderId: string | undefined): PairPolicy {
  const base = { guards: GUARD_NAMES, lexicon: PLAIN_LEXICON };
  const path = join(import.meta.dirname, '..', 'calibration', `${embedderId ?? 'none'}.json`);
  if (!existsSync(path)) return { ...base, similarityMin: 0, probabilityMin: 0.8, equivalence: UNCALIBRATED };
  const calibration = parseCalibration(JSON.parse(readFileSync(path, 'utf8')));
  const { similarityMin = 0.5, probabilityMin = 0.8 } = calibration.domains['default'] ?? {};
  return { ...base, similarityMin, probabilityMin, equivalence: new MonotoneEquivalence(calibration.equivalence) };
}

/** Candidates below the threshold cost nothing, so there are none of these. */
function askedTexts(texts: readonly string[], embedded: readonly Embedding[], similarityMin: number): readonly Asked[] {
  const words = texts.map((text) => new Set(text.toLowerCase().match(/[a-z0-9]+/gu) ?? []));
  const sides = texts.map((text, index) => pairSide(text, embedded[index]?.wordVectors));
  const step = Math.max(1, Math.floor(texts.length / ASKED_MAX));
  return texts.flatMap((text, index) => {
    if (index % step !== 0) return [];
    const own = embedded[index]?.vector;
    const near = texts
      .map((_, other) => ({ other, share: other === index ? -1 : overlap(words[index]!, words[other]!) }))
      .sort((one, two) => two.share - one.share);
    const candidates: { readonly side: PairSide; readonly similarity: number }[] = [];
    for (const { other, share } of near) {
      const vector = embedded[other]?.vector;
      const similarity = own === undefined || vector === undefined ? 0.5 + share / 2 : dot(own, vector);
      if (similarity >= similarityMin && candidates.length < CANDIDATES)
        candidates.push({ side: sides[other]!, similarity });
      if (share <= 0) break;
    }
    return [{ text, embedded: embedded[index], candidates }];
  });
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!;
  return sum;
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}

function lookUp({ text, embedded, candidates }: Asked, policy: PairPolicy): boolean {
  const side = pairSide(text, embedded?.wordVectors);
  for (const { side: stored, similarity } of candidates) {
    if (decidePair(policy, side, stored, similarity).serve) return true;
  }
  return false;
}

interface Span {
  readonly startMs: number;
  readonly tookMs: number;
}

async function timeAll(
  asked: readonly Asked[],
  policy: PairPolicy,
): Promise<Pick<GuardsResult, 'extract' | 'decide' | 'lookUp' | 'lookUpCpu' | 'pauses'>> {
  const pauses: Span[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) pauses.push({ startMs: startTime, tookMs: duration });
  });
  observer.observe({ entryTypes: ['gc'] });
  const extractions: Span[] = [];
  const decisions: Span[] = [];
  const lookUps: Span[] = [];
  const cpuUs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const one of asked) {
      let startMs = performance.now();
      const side = pairSide(one.text, one.embedded?.wordVectors);
      extractions.push({ startMs, tookMs: performance.now() - startMs });
      for (const { side: stored, similarity } of one.candidates) {
        startMs = performance.now();
        decidePair(policy, side, stored, similarity);
        decisions.push({ startMs, tookMs: performance.now() - startMs });
      }
    }
    for (const one of asked) {
      const startMs = performance.now();
      lookUp(one, policy);
      lookUps.push({ startMs, tookMs: performance.now() - startMs });
    }
    for (const one of asked) {
      const before = process.cpuUsage();
      lookUp(one, policy);
      const { user, system } = process.cpuUsage(before);
      cpuUs.push(user + system);
    }
  }
  // Entries of the collector come with the next turns of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 100));
  observer.disconnect();
  const pausesUs = pauses.map(({ tookMs }) => tookMs * 1_000);
  return {
    extract: timingOf(extractions, pauses),
    decide: timingOf(decisions, pauses),
    lookUp: timingOf(lookUps, pauses),
    lookUpCpu: { p50Us: quantile(cpuUs, 0.5), p99Us: quantile(cpuUs, 0.99) },
    pauses: { count: pauses.length, p50Us: quantile(pausesUs, 0.5), maxUs: quantile(pausesUs, 1) },
  };
}

async function timeEmbeddings(embedder: Embedder, texts: readonly string[]): Promise<Timing> {
  const spans: Span[] = [];
  for (let at = 0; at < EMBEDDINGS; at += 1) {
    const text = texts[at % texts.length] ?? '';
    const startMs = performance.now();
    await embedder.embed([text], deadline());
    spans.push({ startMs, tookMs: performance.now() - startMs });
  }
  return timingOf(spans.slice(EMBEDDINGS / 4), []);
}

function timingOf(spans: readonly Span[], pauses: readonly Span[]): Timing {
  const wall = spans.map(({ tookMs }) => tookMs * 1_000);
  const own = spans.map((span) => (span.tookMs - pausedIn(span, pauses)) * 1_000);
  return {
    samples: spans.length,
    p50Us: quantile(wall, 0.5),
    p99Us: quantile(wall, 0.99),
    p99WithoutPausesUs: quantile(own, 0.99),
  };
}

function pausedIn({ startMs, tookMs }: Span, pauses: readonly Span[]): number {
  let paused = 0;
  for (const pause of pauses) {
    const from = Math.max(startMs, pause.startMs);
    const to = Math.min(startMs + tookMs, pause.startMs + pause.tookMs);
    if (to > from) paused += to - from;
  }
  return paused;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return Math.round(value * 10) / 10;
}

if (process.argv[1]?.endsWith('guards.ts') === true) {
  process.stdout.write(`${JSON.stringify(await measureGuards(), undefined, 2)}\n`);
}
