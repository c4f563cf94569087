import { z } from 'zod';
import { DEFAULT_DOMAIN, DEFAULT_NODE_OPTIONS } from '../node/defaults.ts';
import { bytes, choice, count, durationMs, fraction, name, text } from './fields.ts';

const MIB = 1024 * 1024;
const SEMANTIC = DEFAULT_NODE_OPTIONS.semantic;

/** What semantic matching may do in a namespace. */
export const MODES = ['auto', 'off', 'observe', 'serve'] as const;

const embedder = z.strictObject({
  name: text("Name of the embedding model, part of the embedder's id.", 'all-minilm-l6-v2-q', 128),
  modelDir: text(
    "Folder of the model's files; empty: where the set-up puts them (`models` in `REPRISE_DATA_DIR`, else in `.reprise` of the clone).",
    '',
    4_096,
  ),
  windowTokens: count('Longest text that is embedded whole, tokens.', 256, { min: 8, max: 131_072 }),
  threads: count('Worker threads.', 1, { min: 1, max: 64 }),
  intraOpThreads: count('Threads within one inference.', 1, { min: 1, max: 64 }),
  executionProviders: z
    .array(z.enum(['cpu', 'cuda', 'coreml', 'dml']))
    .min(1)
    .max(4)
    .default(['cpu'])
    .describe("Execution providers in order of preference; one that isn't there falls back to cpu."),
});

const verifier = z.strictObject({
  kind: choice(
    'The second opinion that domains with `verifiedMin` ask for: none, a cross-encoder in ONNX on this node, or a model as judge.',
    ['off', 'cross-encoder', 'model'],
    'off',
  ),
  timeoutMs: durationMs(
    'Its own time beside the lookup budget; 0: what is left of that.',
    SEMANTIC.verifier.timeoutMs,
    {
      max: 60_000,
    },
  ),
  candidatesMax: count('Candidates of one request that it is asked about.', SEMANTIC.verifier.candidatesMax, {
    min: 1,
    max: 8,
  }),
  model: text(
    'Kind `model`: name of the model to ask, resolved like any other; its upstream needs a key of its own.',
    '',
    256,
  ),
  name: text('Kind `cross-encoder`: name of the model, a folder with `model.onnx` and `tokenizer.json`.', '', 128),
  modelDir: text("Kind `cross-encoder`: where that folder lies; empty: beside the embedding model's.", '', 4_096),
  windowTokens: count('Kind `cross-encoder`: longest pair that it reads, tokens.', 512, { min: 8, max: 131_072 }),
  threads: count('Kind `cross-encoder`: worker threads.', 1, { min: 1, max: 64 }),
  executionProviders: z
    .array(z.enum(['cpu', 'cuda', 'coreml', 'dml']))
    .min(1)
    .max(4)
    .default(['cpu'])
    .describe(
      "Kind `cross-encoder`: execution providers in order of preference; one that isn't there falls back to cpu.",
    ),
});

const nearMissLog = z.strictObject({
  path: text(
    'File that near misses are written to, for `reprise review`; it holds texts of requests. Relative to `dataDir`; empty: none is written.',
    '',
    4_096,
  ),
  margin: fraction('How near to the threshold a candidate must be.', SEMANTIC.nearMiss.margin),
  bytesMax: bytes('Size at which a new file is begun.', 8 * MIB, { min: 4_096, max: 1_024 * MIB }),
  filesMax: count('Files kept, the current one included.', 4, { min: 1, max: 100 }),
  rememberedMax: count('Pairs remembered, so as to write each once.', SEMANTIC.nearMiss.rememberedMax, {
    min: 1,
    max: 1_000_000,
  }),
});

/** Semantic matching: its parts, its bounds, and what else it asks. */
export const semantic = z.strictObject({
  mode: choice(
    'Mode of namespaces that name none; auto: serve where only the demo model answers, and in domains that a calibration promises something of; else observe.',
    MODES,
    'auto',
  ),
  calibration: text(
    "Parameters fitted to the embedder: auto (those that come with Reprise, where there are any for it), off, or a file that `reprise calibrate` wrote, relative to this file's folder.",
    'auto',
    4_096,
  ),
  preset: choice(
    'Domains and rules that come with Reprise; `clinical`: `medication`, `default` and `non-clinical`, chosen by words of the text.',
    ['none', 'clinical'],
    'none',
  ),
  verifier: verifier.prefault({}).describe('The second opinion.'),
  nearMissLog: nearMissLog.prefault({}).describe('The near-miss log.'),
  embedder: embedder.prefault({}).describe('The embedding model.'),
  candidatesMax: count('Candidates that are judged.', SEMANTIC.candidatesMax, { min: 1, max: 8 }),
  similarityFloor: fraction('Least similarity of a candidate.', SEMANTIC.similarityFloor),
  embedQueueMax: count('Texts that wait for the embedder.', SEMANTIC.embedQueueMax, { min: 1, max: 100_000 }),
  embedBatchMax: count('Texts in one embedder call.', SEMANTIC.embedBatchMax, { min: 1, max: 1_024 }),
  embedTimeoutMs: durationMs('Deadline of one embedder call.', SEMANTIC.embedTimeoutMs, { min: 1, max: 600_000 }),
  vectorCacheBytesMax: bytes('Bound of the vector cache.', SEMANTIC.vectorCacheBytesMax),
  cellsMax: count('Live cells on this node.', SEMANTIC.cellsMax, { min: 1, max: 1_000_000 }),
  cellVectorsMax: count('Vectors in one cell.', SEMANTIC.cellVectorsMax, { min: 1, max: 10_000_000 }),
  codeBits: count('Width of an LSH code.', SEMANTIC.codeBits, { min: 1, max: 32 }),
  probesMax: count("Neighbouring cells that are probed beside a text's own.", SEMANTIC.probesMax, { max: 64 }),
});

const words = (doc: string) => z.array(z.string().min(1).max(256)).max(10_000).default([]).describe(doc);
const wordList = z.array(z.string().min(1).max(256)).max(1_000);

const lexicon = z.strictObject({
  opposites: z
    .array(z.tuple([z.string().min(1).max(1_024), z.string().min(1).max(1_024)]))
    .max(10_000)
    .default([])
    .describe('Pairs of opposites; several words of one side are parted by spaces.'),
  same: z.array(wordList).max(10_000).default([]).describe('Groups of words that mean the same.'),
  names: words('Names that are never mistyped forms of each other.'),
  scopeWords: words("Words that limit what is asked for: a text that has one isn't served for a text that doesn't."),
});

const FRACTION = 'must be a number from 0 to 1';
const fractionOr = <const Word extends string>(word: Word, doc: string) =>
  z
    .union([z.literal(word), z.number(FRACTION).min(0, FRACTION).max(1, FRACTION)], `${FRACTION}, or ${word}`)
    .default(word as never)
    .describe(doc);

/** A domain: how sure a semantic hit must be. */
export const domain = z.strictObject({
  similarityMin: fractionOr(
    'auto',
    `Least cosine similarity of a semantic hit; auto: the calibrated one, else ${DEFAULT_DOMAIN.similarityMin}. One below the calibrated one doesn't count.`,
  ),
  probabilityMin: fractionOr(
    'auto',
    `Least probability of a semantic hit; auto: the calibrated one, else ${DEFAULT_DOMAIN.probabilityMin}. One below the calibrated one doesn't count.`,
  ),
  guards: z
    .array(z.string())
    .max(64)
    .default([...DEFAULT_DOMAIN.guards])
    .describe('Guards that may veto.'),
  lexicon: lexicon.prefault({}).describe("The domain's own words."),
  verifiedMin: fractionOr('off', 'Least probability that the verifier must give; off: it is not asked.'),
  calibration: text(
    'Calibrated domain that the minima come from; auto: the one of this name, else `default`; off: none.',
    'auto',
    64,
  ),
  uncalibrated: choice(
    'What the domain does while no calibration promises anything of it, in a namespace that is set to serve; auto: serve, and observe in domains of a preset.',
    ['auto', 'serve', 'observe'],
    'auto',
  ),
});

/** Which requests fall into a domain. */
export const domainRule = z.strictObject({
  domain: name.describe('Domain of requests that fit.'),
  namespace: z.string().min(1).max(256).default('*').describe('Namespace; `*` stands for any run of characters.'),
  model: z.string().min(1).max(256).default('*').describe('Model name as asked; `*` stands for any run of characters.'),
  words: words(
    'Words or phrases of which the asked text must have one; none: any text fits. Case and accents do not count; `*` at the end of a word stands for any ending.',
  ),
});
