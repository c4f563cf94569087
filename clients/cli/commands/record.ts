import type { Command } from 'commander';
import { clientSettings, parseBytes, parseDurationMs } from '../../../runtime/config/index.ts';
import { UsageError } from '../exit.ts';
import { count, counted, size } from '../format.ts';
import { localHttpUrl } from '../local-http-url.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, type CommandContext } from './shared.ts';

interface RecordOptions {
  readonly out: string;
  readonly url?: string;
  readonly credential?: string;
  readonly for?: string;
  readonly limit: string;
  readonly texts?: true;
  readonly vectors?: true;
  readonly force?: true;
  readonly json?: true;
}

/** Adds `reprise record`: what a running node is asked, as a trace that `reprise replay` reads. */
export function addRecord(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('record')
    .description('record what a running node is asked, until Ctrl-C or a limit: hashes, counts and times, no texts')
    .requiredOption('--out <file>', 'file to write: JSON Lines (reprise/record/v1), gzip where it ends with .gz')
    .option('--url <url>', 'HTTP address of the node (else 127.0.0.1 and the configured port)')
    .option('--credential <key>', 'credential of an admin; others can see it here, not in REPRISE_API_KEY')
    .option('--for <duration>', 'stop after so long: 30s, 10m, 2h')
    .option('--limit <size>', 'stop at so many bytes of lines, before compression', '1GiB')
    .option('--texts', 'asked texts too; the node must allow it (recording.texts)')
    .option('--vectors', 'vectors of asked texts too; the node must allow it (recording.texts)')
    .option('--force', 'replace a file that is there')
    .option('--json', 'print one JSON document')
    .action(async (options: RecordOptions) => {
      const bytesMax = parseBytes(options.limit);
      if (bytesMax === undefined) throw new UsageError(`'${options.limit}' is no size: say 100MiB.`);
      const forMs = options.for === undefined ? undefined : parseDurationMs(options.for);
      if (options.for !== undefined && forMs === undefined) {
        throw new UsageError(`'${options.for}' is no duration: say 30s, 10m or 2h.`);
      }
      const { recordToFile } = await import('../record/record-to-file.ts');
      const { callAfter } = await import('../record/call-after.ts');
      const credential = options.credential ?? clientSettings().credential?.reveal();
      const stop = new AbortController();
      const onSignal = (): void => stop.abort();
      process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
      let callOff = (): void => undefined;
      try {
        const done = await recordToFile({
          url: options.url ?? localHttpUrl(),
          path: options.out,
          force: options.force === true,
          bytesMax,
          terms: { texts: options.texts === true, vectors: options.vectors === true },
          signal: stop.signal,
          onBegun: () => {
            terminal.err(`recording to ${options.out}; Ctrl-C ends it\n`);
            if (forMs !== undefined) callOff = callAfter(forMs, onSignal);
          },
          ...(credential !== undefined && { credential }),
        });
        if (options.json === true) return terminal.out(jsonDocument(done));
        const dropped = done.dropped === 0 ? '' : `, ${count(done.dropped)} dropped`;
        terminal.out(`${counted(done.requests, 'request')}${dropped}, ${size(done.bytes)} of lines in ${done.path}\n`);
      } finally {
        callOff();
        process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
      }
    });
  addExamples(
    command,
    'reprise record --out monday.jsonl.gz --for 2h',
    'reprise record --url http://10.0.0.7:8080 --out now.jsonl --limit 100MiB',
    'reprise replay monday.jsonl.gz --policy all --size 256MiB',
  );
}
