import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { RepriseError } from '../../../runtime/errors.ts';
import { UsageError } from '../exit.ts';
import { oneLine } from '../format.ts';
import { readNearMisses, type NearMissRecord } from '../review/near-miss-records.ts';
import { PairsFile } from '../review/pairs-file.ts';
import { jsonDocument, type Terminal } from '../terminal.ts';
import { addExamples, addNodeOptions, type CommandContext, type NodeOptions } from './shared.ts';

interface ReviewOptions extends NodeOptions {
  readonly config?: string;
  readonly pairs?: string;
  readonly domain?: string;
  readonly offline?: true;
}

const TEXT_CHARS = 2_000;
const PAIRS_NAME = 'reviewed-pairs.tsv';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** Adds `reprise review`: near misses one by one, approved or refused; both feed calibration. */
export function addReview(program: Command, context: CommandContext): void {
  const { terminal } = context;
  const command = program
    .command('review')
    .description(
      'approve or refuse near misses one by one; what is refused is never served again, and both feed calibration',
    )
    .argument('[file]', 'near-miss log (else semantic.nearMissLog.path of the configuration)')
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--pairs <file>', `file that judged pairs are added to (else ${PAIRS_NAME} in dataDir)`)
    .option('--domain <name>', 'review pairs of this domain only')
    .option('--offline', "don't tell the node of refused pairs");
  addNodeOptions(command).action(async (file: string | undefined, options: ReviewOptions) => {
    const { logPath, pairsPath } = await placesOf(file, options);
    const pairs = await PairsFile.open(pairsPath);
    const { records, unreadable, files } = await readNearMisses(logPath);
    if (files === 0) throw new RepriseError('data_invalid', `There is no near-miss log at ${logPath}.`);
    if (unreadable > 0) terminal.err(`warning: ${unreadable} lines of the log can't be read\n`);
    const open = records.filter(
      ({ a, b, domain }) => !pairs.has(a, b) && (options.domain === undefined || domain === options.domain),
    );
    if (options.json === true) return terminal.out(jsonDocument({ log: logPath, pairs: pairsPath, open }));
    const tally = await review(open, { terminal, pairs, refuse: refuserOf(context, options) });
    const { approved, refused, skipped } = tally;
    terminal.out(`${approved} approved, ${refused} refused, ${skipped} skipped; judged pairs are in ${pairsPath}\n`);
  });
  addExamples(
    command,
    'reprise review',
    'reprise review near-misses.jsonl --pairs reviewed.tsv --offline',
    'reprise review --json | jq .open[].b',
  );
}

async function placesOf(
  file: string | undefined,
  options: ReviewOptions,
): Promise<{ readonly logPath: string; readonly pairsPath: string }> {
  if (file !== undefined && options.pairs !== undefined) {
    return { logPath: resolve(file), pairsPath: resolve(options.pairs) };
  }
  const { loadConfig } = await import('../../../runtime/config/index.ts');
  const config = loadConfig(options.config === undefined ? {} : { file: options.config });
  const logPath = file === undefined ? config.semantic.nearMissLog.path : resolve(file);
  if (logPath === '') {
    throw new UsageError('Name a near-miss log, or set semantic.nearMissLog.path, without which none is written.');
  }
  const pairsPath = options.pairs === undefined ? join(config.dataDir, PAIRS_NAME) : resolve(options.pairs);
  return { logPath, pairsPath };
}

type Refuse = (record: NearMissRecord) => Promise<void>;

function refuserOf(context: CommandContext, options: ReviewOptions): Refuse {
  if (options.offline === true) return () => Promise.resolve();
  return async ({ a, b, entryId, tenant }) => {
    const feedback = { entryId, verdict: 'wrong', storedText: a, askedText: b, tenant } as const;
    await context.withNode(options, (node, call) => node.feedback(feedback, call));
  };
}

interface Tally {
  approved: number;
  refused: number;
  skipped: number;
}

async function review(
  records: readonly NearMissRecord[],
  { terminal, pairs, refuse }: { terminal: Terminal; pairs: PairsFile; refuse: Refuse },
): Promise<Tally> {
  const tally: Tally = { approved: 0, refused: 0, skipped: 0 };
  const keys = terminal.keys()[Symbol.asyncIterator]();
  try {
    for (const [at, record] of records.entries()) {
      terminal.out(recordText(record, `${at + 1}/${records.length}`));
      const key = await nextKey(keys, terminal);
      if (key === 'q') break;
      if (key === 's') tally.skipped += 1;
      else await judge(record, key === 'a', { terminal, pairs, refuse, tally });
    }
  } finally {
    await keys.return?.();
  }
  return tally;
}

/** A refusal that the node didn't take isn't noted, so that the pair comes up again. */
async function judge(
  record: NearMissRecord,
  same: boolean,
  { terminal, pairs, refuse, tally }: { terminal: Terminal; pairs: PairsFile; refuse: Refuse; tally: Tally },
): Promise<void> {
  const { domain, a, b } = record;
  try {
    if (!same) await refuse(record);
  } catch (error) {
    terminal.err(`not refused: ${error instanceof Error ? error.message : String(error)}\n`);
    tally.skipped += 1;
    return;
  }
  await pairs.add({ domain, same, a, b });
  tally[same ? 'approved' : 'refused'] += 1;
}

async function nextKey(keys: AsyncIterator<string>, terminal: Terminal): Promise<'a' | 'r' | 's' | 'q'> {
  terminal.out('a approve, r refuse, s skip, q quit: ');
  for (;;) {
    const { done, value } = await keys.next();
    const key = done === true || value === CTRL_C || value === CTRL_D ? 'q' : value.toLowerCase();
    if (key !== 'a' && key !== 'r' && key !== 's' && key !== 'q') continue;
    terminal.out(`${key}\n`);
    return key;
  }
}

function recordText(record: NearMissRecord, place: string): string {
  const { similarity, similarityMin, probability, probabilityMin, vetoes, reason, domain, tenant, at } = record;
  const verdict = vetoes.length === 0 ? reason : `${reason} by ${vetoes.join(', ')}`;
  return [
    `\n${place}  ${at}  tenant ${oneLine(tenant, 64)}, domain ${oneLine(domain, 64)}`,
    `  similarity ${similarity.toFixed(4)} of ${similarityMin.toFixed(4)}, probability ${probability.toFixed(4)} of ${probabilityMin.toFixed(4)}, ${verdict}`,
    `  stored  ${oneLine(record.a, TEXT_CHARS)}`,
    `  asked   ${oneLine(record.b, TEXT_CHARS)}`,
    '  Would the answer to the stored text be right for the asked one?\n',
  ].join('\n');
}
