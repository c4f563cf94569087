import type { Command } from 'commander';
import type { LocalGridStatus, MemberStatus, Stopped } from '../../../grid/hazelcast/local-grid.ts';
import { CommandFailure, EXIT, UsageError } from '../exit.ts';
import { environmentOf, startedText, statusText, stoppedText } from '../grid/grid-text.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, loadedConfig, type CommandContext } from './shared.ts';

interface GridOptions {
  readonly config?: string;
  readonly json?: true;
}

interface StartOptions extends GridOptions {
  readonly members?: number;
  readonly port?: number;
  readonly heap: number;
  readonly cluster?: string;
  readonly membersExpected?: number;
}

const MEMBERS_MAX = 7;
const HEAP_MB = 512;
const HEAP_MB_MIN = 256;
const HEAP_MB_MAX = 32_768;
const PORT_MAX = 65_535;
const NOT_AS_ASKED = 'Members run already, and not as asked: reprise grid stop ends them.\n';
const TWO =
  'warning: of two members neither is a majority without the other: when one is lost, invalidation stops until it is back. Take 1 or 3.\n';
const CLUSTER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Adds `reprise grid`: Hazelcast members on this machine. */
export function addGrid(program: Command, context: CommandContext): void {
  const grid = program.command('grid').description('start, stop and look at Hazelcast members on this machine');
  addStart(grid, context);
  addStop(grid, context);
  addStatus(grid, context);
  addExamples(grid, 'reprise grid start --members 3', 'reprise grid status', 'reprise grid stop');
}

function addStart(grid: Command, context: CommandContext): void {
  const command = grid
    .command('start')
    .description('start members on loopback and wait until they joined; they live on until `reprise grid stop`')
    .option(
      '--members <n>',
      'how many: 1 (unless told) or 3; two are less safe than one',
      whole('--members', 1, MEMBERS_MAX),
    )
    .option('--port <port>', 'port of the first, the others follow (else the first free ones from 5701 on)', port)
    .option('--heap <MB>', 'heap of each member', whole('--heap', HEAP_MB_MIN, HEAP_MB_MAX), HEAP_MB)
    .option('--cluster <name>', "name of the cluster (else the configuration's: reprise)", cluster)
    .option(
      '--members-expected <n>',
      'members of the whole cluster, for its majority (else as many as are started)',
      whole('--members-expected', 1, 256),
    );
  addCommon(command).action((options: StartOptions) => start(options, context));
  addExamples(
    command,
    'reprise grid start',
    'reprise grid start --members 3 --heap 1024',
    'reprise grid start --members 3 --port 6701 --cluster staging --json | jq -r .environment.REPRISE_GRID_MEMBERS',
  );
}

async function start(options: StartOptions, { terminal, setExit }: CommandContext): Promise<void> {
  const { members = 1, port: first, heap, membersExpected } = options;
  if (first !== undefined && first + members - 1 > PORT_MAX)
    throw new UsageError('--port leaves no room for the others.');
  const config = await loadedConfig(options.config, terminal);
  const { dataDir } = config;
  const clusterName = options.cluster ?? config.grid.hazelcast.clusterName;
  const { localGridStatus, startLocalGrid } = await import('../../../grid/hazelcast/local-grid.ts');
  const before = await localGridStatus(dataDir);
  if (before?.members.some(({ condition }) => condition !== 'ended') === true) {
    const isAsked = before.isWhole && isSame(before, options);
    terminal.err(isAsked ? 'They run already.\n' : NOT_AS_ASKED);
    if (!isAsked) setExit(EXIT.failed);
    return terminal.out(options.json === true ? documentOf(before) : statusText(before));
  }
  if (members === 2) terminal.err(TWO);
  const startedAtMs = performance.now();
  await interruptible((signal) =>
    startLocalGrid({
      members,
      ...(first !== undefined && { ports: Array.from({ length: members }, (_, index) => first + index) }),
      dataDir,
      heapMb: heap,
      clusterName,
      ...(membersExpected !== undefined && { membersExpected }),
      onProgress: (text) => terminal.err(`${seconds(startedAtMs)} ${text}\n`),
      signal,
    }),
  );
  const status = await localGridStatus(dataDir);
  if (status === undefined) throw new CommandFailure('member_ended', 'The members were stopped meanwhile.', undefined);
  terminal.out(options.json === true ? documentOf(status) : startedText(status));
}

/** True when what runs is what is asked for, as far as anything is. */
function isSame({ members, clusterName }: LocalGridStatus, asked: StartOptions): boolean {
  return (asked.members ?? members.length) === members.length && (asked.cluster ?? clusterName) === clusterName;
}

function addStop(grid: Command, { terminal }: CommandContext): void {
  const command = grid
    .command('stop')
    .description('stop the members that were started here; what they hold is lost with the last of them');
  addCommon(command).action(async (options: GridOptions) => {
    const { dataDir } = await loadedConfig(options.config, terminal);
    const { stopLocalGrid } = await import('../../../grid/hazelcast/local-grid.ts');
    const stopped: Stopped = await coded(() => stopLocalGrid(dataDir));
    terminal.out(options.json === true ? jsonDocument(stopped) : stoppedText(stopped));
  });
  addExamples(command, 'reprise grid stop');
}

function addStatus(grid: Command, { terminal, setExit }: CommandContext): void {
  const command = grid
    .command('status')
    .description('list the members that were started here; exit 3 unless all run and have joined');
  addCommon(command).action(async (options: GridOptions) => {
    const { dataDir } = await loadedConfig(options.config, terminal);
    const { localGridStatus } = await import('../../../grid/hazelcast/local-grid.ts');
    const status = await localGridStatus(dataDir);
    if (status?.isWhole !== true) setExit(EXIT.unreachable);
    terminal.out(options.json === true ? documentOf(status) : statusText(status));
  });
  addExamples(command, 'reprise grid status', 'reprise grid status --json | jq .members');
}

function addCommon(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--json', 'print one JSON document');
}

function documentOf(status: LocalGridStatus | undefined): string {
  if (status === undefined) return jsonDocument({ running: false, members: [] });
  const { clusterName, heapMb, membersExpected, members, isWhole } = status;
  return jsonDocument({
    running: members.some(({ condition }) => condition !== 'ended'),
    whole: isWhole,
    clusterName,
    heapMb,
    membersExpected,
    environment: environmentOf(status),
    members: members.map(({ address, pid, condition, sees, logFile }: MemberStatus) => ({
      address,
      pid,
      condition,
      sees,
      logFile,
    })),
  });
}

/** Ctrl-C and SIGTERM abort the signal of `work`, and the failure says so. */
async function interruptible<R>(work: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void =>
    stop.abort(new CommandFailure('cancelled', `${name}: no member was left.`, undefined));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await coded(() => work(stop.signal));
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** What the launcher says in its own, finer code. None of it is a node that doesn't answer. */
async function coded<R>(work: () => Promise<R>): Promise<R> {
  const { LauncherError } = await import('../../../grid/hazelcast/launcher-error.ts');
  try {
    return await work();
  } catch (error) {
    throw error instanceof LauncherError ? new CommandFailure(error.reason, error.message, error) : error;
  }
}

function seconds(sinceMs: number): string {
  return `[${((performance.now() - sinceMs) / 1_000).toFixed(1).padStart(5)} s]`;
}

function whole(option: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new UsageError(`${option} is a whole number from ${least} to ${most}, not "${text}".`);
  };
}

const port = whole('--port', 1, PORT_MAX);

function cluster(text: string): string {
  if (CLUSTER.test(text)) return text;
  throw new UsageError(
    '--cluster is a name: letters, digits, ".", "_" or "-", beginning with a letter or digit, 64 at most.',
  );
}
