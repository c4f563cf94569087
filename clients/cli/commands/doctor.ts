import type { Command } from 'commander';
import type { Config } from '../../../runtime/config/index.ts';
import type { OpenEmbedder } from '../doctor/embedding-model.ts';
import { EXIT } from '../exit.ts';
import { isReprise } from '../node-connection.ts';
import { packageInfo } from '../package-info.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, type CommandContext } from './shared.ts';

interface DoctorOptions {
  readonly config?: string;
  readonly json?: true;
}

/** Adds `reprise doctor`: looks whether everything is there that a node started here needs. */
export function addDoctor(program: Command, { terminal, setExit }: CommandContext): void {
  const command = program
    .command('doctor')
    .description('check whether a node started here has all it needs; exit 4 when something must be mended')
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--json', 'print one JSON document')
    .action(async (options: DoctorOptions) => {
      const { examine, findingsText } = await import('../doctor/doctor.ts');
      const { clientSettings, loadConfig } = await import('../../../runtime/config/index.ts');
      const findings = await examine({
        info: packageInfo(),
        loadConfig: () => loadConfig(options.config === undefined ? {} : { file: options.config }),
        testData: clientSettings().testData,
        openEmbedder,
        isRepriseGrpc: isReprise,
        onProgress: (line) => terminal.err(`${line}\n`),
      });
      const failed = findings.some((finding) => finding.state === 'fail');
      terminal.out(options.json === true ? jsonDocument({ well: !failed, findings }) : findingsText(findings));
      if (failed) setExit(EXIT.foundWrong);
    });
  addExamples(command, 'reprise doctor', 'reprise doctor --config staging.yaml --json');
}

/** Opens the embedding model as a node does. */
const openEmbedder: OpenEmbedder = async (config: Config) => {
  const [opener, { SystemClock }, { HostTelemetry }] = await Promise.all([
    import('../../../runtime/host/embedding/open-embedder.ts'),
    import('../../../runtime/host/system-clock.ts'),
    import('../../../runtime/host/telemetry.ts'),
  ]);
  const telemetry = new HostTelemetry({ logLevel: 'silent' });
  const opened = await opener.openEmbedder(config.embedder, { clock: new SystemClock(), telemetry });
  return 'missing' in opened ? opened : { embedder: opened };
};
