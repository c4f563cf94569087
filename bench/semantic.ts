import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InferenceRequest } from '../runtime/ports/service.ts';

/** What a semantic hit takes beside a bare embedding of the same text, both in one process; microseconds, medians. */
export interface SemanticResult {
  /** Pairs of one hit and one embedding; rephrasings that missed are left out. */
  readonly pairs: number;
  readonly misses: number;
  readonly hitUs: number;
  readonly embeddingUs: number;
  /** Median of the ratios of the pairs. */
  readonly ratio: number;
}

const THINGS = [
  'a shelf',
  'the lamp',
  'my drill',
  'a door',
  'the sink',
  'a fence',
  'my bicycle',
  'the boiler',
  'a mirror',
  'the gutter',
];
const ACTS = ['repair', 'clean', 'paint', 'install', 'remove', 'store', 'order', 'return', 'measure', 'replace'];
const PLACES = ['in the kitchen', 'at home', 'in a small flat', 'before winter'];
const DEADLINE_MS = 60_000;
/** Questions that are asked, and asked again, before anything is measured: a server that runs has run for a while. */
const WARM_QUESTIONS = 100;
const WARM_ROUNDS = 5;

/** Reprise as it was built, or from its sources. */
async function modulesOf(isBuilt: boolean) {
  const load = <Module>(path: string): Promise<Module> =>
    import(isBuilt ? `../dist/${path}.js` : `../${path}.ts`) as Promise<Module>;
  const [config, assembly, embedder, clock, telemetry] = await Promise.all([
    load<typeof import('../runtime/config/index.ts')>('runtime/config/index'),
    load<typeof import('../runtime/host/assembly.ts')>('runtime/host/assembly'),
    load<typeof import('../runtime/host/embedding/open-embedder.ts')>('runtime/host/embedding/open-embedder'),
    load<typeof import('../runtime/host/system-clock.ts')>('runtime/host/system-clock'),
    load<typeof import('../runtime/host/telemetry.ts')>('runtime/host/telemetry'),
  ]);
  return { ...config, ...assembly, ...embedder, ...clock, ...telemetry };
}

/** Pairs of a question and its rephrasing. */
function questions(): { readonly stored: string; readonly asked: string }[] {
  return ACTS.flatMap((act) =>
    THINGS.flatMap((thing) =>
      PLACES.map((place) => ({
        stored: `How do I ${act} ${thing} ${place}?`,
        asked: `Please tell me how to ${act} ${thing} ${place}`,
      })),
    ),
  );
}

/** Undefined when there is no embedding model here. */
async function measure(modelDir: string, count: number, isBuilt: boolean): Promise<SemanticResult | undefined> {
  const { SystemClock, HostTelemetry, loadConfig, openEmbedder, assemble } = await modulesOf(isBuilt);
  const dataDir = mkdtempSync(join(tmpdir(), 'reprise-bench-'));
  const clock = new SystemClock();
  const telemetry = new HostTelemetry({ logLevel: 'error' });
  const config = loadConfig({
    file: false,
    env: {},
    overrides: {
      dataDir,
      cache: { lookupBudgetMs: 2_000 },
      demo: { enabled: true, firstTokenMs: 0, perTokenMs: 0 },
      semantic: { mode: 'serve', embedder: { modelDir } },
    },
  });
  const embedder = await openEmbedder(config.embedder, { clock, telemetry });
  if ('missing' in embedder) return undefined;
  const assembly = await assemble(config, telemetry, { embedder });
  const { node, identity } = assembly;
  await node.start();
  const requestFor = (text: string): InferenceRequest => ({
    operation: 'chat.completions',
    body: Buffer.from(JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: text }] })),
    identity: identity.resolve(undefined, undefined),
    controls: {},
    signal: new AbortController().signal,
  });
  const all = questions();
  const pairs = all.slice(WARM_QUESTIONS, WARM_QUESTIONS + count);
  for (const { stored } of all) await node.service.infer(requestFor(stored));
  await node.drain(DEADLINE_MS);
  for (let round = 0; round < WARM_ROUNDS; round += 1) {
    for (const { asked } of all.slice(0, WARM_QUESTIONS)) await node.service.infer(requestFor(asked));
  }
  const hits: number[] = [];
  const embeddings: number[] = [];
  let misses = 0;
  const hit = async (text: string): Promise<boolean> => {
    const request = requestFor(text);
    const startedAtMs = performance.now();
    const reply = await node.service.infer(request);
    hits.push((performance.now() - startedAtMs) * 1_000);
    return reply.status.detail === 'semantic';
  };
  const embed = async (text: string): Promise<void> => {
    const startedAtMs = performance.now();
    await embedder.embed([text], { deadlineAtMs: clock.monotonicMs() + DEADLINE_MS });
    embeddings.push((performance.now() - startedAtMs) * 1_000);
  };
  for (const [index, { asked }] of pairs.entries()) {
    // Whoever comes second finds warm caches of the machine.
    if (index % 2 === 0) await embed(asked);
    const isHit = await hit(asked);
    if (index % 2 === 1) await embed(asked);
    if (isHit) continue;
    misses += 1;
    hits.pop();
    embeddings.pop();
  }
  await assembly.stop();
  rmSync(dataDir, { recursive: true, force: true });
  const ratios = hits.map((us, index) => us / (embeddings[index] ?? Number.NaN));
  return { pairs: hits.length, misses, hitUs: median(hits), embeddingUs: median(embeddings), ratio: median(ratios) };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const [, program, modelDir, count, build] = process.argv;
if (program?.endsWith('semantic.ts') === true && modelDir !== undefined) {
  const result = await measure(modelDir, Number(count), build === 'built');
  process.stdout.write(`${JSON.stringify(result ?? null)}\n`, () => process.exit(0));
}
