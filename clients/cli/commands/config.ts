import type { Command } from 'commander';
import { configText, promisesText } from '../config-text.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, type CommandContext } from './shared.ts';

interface ConfigOptions {
  readonly config?: string;
  readonly origins?: true;
  readonly json?: true;
}

/** Adds `reprise config`: the configuration that a node started here would have, without its credentials. */
export function addConfig(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('config')
    .description('print the configuration that a node started here would have; credentials are hidden')
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--origins', 'also print where each value comes from')
    .option('--json', 'print one JSON document')
    .action(async (options: ConfigOptions) => {
      const { describeConfig, loadConfig } = await import('../../../runtime/config/index.ts');
      const { describePromises } = await import('../../../runtime/host/promises.ts');
      const config = loadConfig(options.config === undefined ? {} : { file: options.config });
      const described = describeConfig(config);
      const semantic = await describePromises(config);
      for (const warning of described.warnings) terminal.err(`warning: ${warning}\n`);
      if (options.json === true) return terminal.out(jsonDocument({ ...described, semantic }));
      terminal.out(configText(described, { origins: options.origins === true }));
      terminal.out(promisesText(semantic));
    });
  addExamples(
    command,
    'reprise config --origins',
    'REPRISE_HTTP_PORT=9000 reprise config | grep server.',
    'reprise config --config staging.yaml --json',
  );
}
