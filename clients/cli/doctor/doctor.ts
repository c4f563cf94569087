import type { Config } from '../../../runtime/config/index.ts';
import { toRepriseError } from '../../../runtime/errors.ts';
import type { PackageInfo } from '../package-info.ts';
import { table } from '../table.ts';
import { embeddingModelFindings, type OpenEmbedder } from './embedding-model.ts';
import type { Finding } from './finding.ts';
import { portFindings, type GrpcProbe } from './ports.ts';
import { dataDirFinding, nodeFinding, testDataFinding, toolFindings } from './surroundings.ts';
import { upstreamFindings } from './upstreams.ts';

/** What `doctor` needs of the world. */
export interface DoctorDeps {
  readonly info: PackageInfo;
  readonly loadConfig: () => Config;
  readonly testData: string | undefined;
  readonly openEmbedder: OpenEmbedder;
  readonly isRepriseGrpc: GrpcProbe;
  /** Told before each part that may take a moment. */
  readonly onProgress: (line: string) => void;
}

/** Looks at everything that a node needs. What depends on a configuration that can't be read is left out. */
export async function examine(deps: DoctorDeps): Promise<Finding[]> {
  const findings: Finding[] = [nodeFinding(deps.info)];
  const config = readConfig(deps, findings);
  if (config !== undefined) {
    findings.push(await dataDirFinding(config.dataDir));
    findings.push(...(await portFindings(config, deps.isRepriseGrpc)));
    deps.onProgress('Trying the embedding model …');
    findings.push(...(await embeddingModelFindings(config, deps.info.root, deps.openEmbedder)));
    if (Object.keys(config.upstreams).length > 0) deps.onProgress('Asking the upstreams …');
    findings.push(...(await upstreamFindings(config)));
  }
  findings.push(...(await toolFindings()), ...testDataFinding(deps.info, deps.testData));
  return findings;
}

function readConfig({ loadConfig }: DoctorDeps, findings: Finding[]): Config | undefined {
  const name = 'configuration';
  try {
    const config = loadConfig();
    const detail = config.file === '' ? 'no file; defaults and environment' : config.file;
    findings.push({ name, state: 'ok', detail });
    for (const warning of config.warnings) findings.push({ name, state: 'warn', detail: warning });
    return config;
  } catch (error) {
    const advice = 'All settings and variables are in docs/configuration.md.';
    findings.push({ name, state: 'fail', detail: toRepriseError(error).message, advice });
    return undefined;
  }
}

/** Findings for people: one line each, with what to do below those that want something done. */
export function findingsText(findings: readonly Finding[]): string {
  const lines = table(findings.map(({ state, name, detail }) => [state, name, detail.replaceAll('\n', ' ')])).split(
    '\n',
  );
  const told = findings.flatMap(({ advice }, index) => {
    const line = lines[index] ?? '';
    return advice === undefined ? [line] : [line, `      → ${advice}`];
  });
  const failed = findings.filter((finding) => finding.state === 'fail').length;
  const warned = findings.filter((finding) => finding.state === 'warn').length;
  const last = failed === 0 && warned === 0 ? 'All is well.' : `${failed} to mend, ${warned} to know of.`;
  return `${told.join('\n')}\n\n${last}\n`;
}
