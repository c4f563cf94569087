import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failSetUp, ROOT, setUp } from './lib/setup.mjs';

const HELP = `npm start: sets up what is missing, then serves on this machine.

  npm start -- --grid hazelcast
                        on a Hazelcast cluster: that of REPRISE_GRID_MEMBERS, else members that are started on this machine
  (other options after -- are those of \`npx reprise serve\`)

  REPRISE_HTTP_PORT     port of the HTTP server (8080)
  REPRISE_GRPC_PORT     port of the gRPC server (50051)
  REPRISE_UPSTREAM_URL  an OpenAI-compatible server to stand in front of; without one the built-in demo model answers
  REPRISE_UPSTREAM_KEY  its key
  REPRISE_SEMANTIC      off, observe or serve
  REPRISE_CONFIG        configuration file (reprise.yaml)

All settings are in docs/configuration.md. Ctrl-C finishes running requests and stops.
`;

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(HELP);
} else {
  await setUp().catch(failSetUp);
  // The server runs in this process: signals reach it unchanged and its exit code is ours.
  const main = join(ROOT, 'dist', 'clients', 'cli', 'main.js');
  process.argv.splice(1, process.argv.length, main, 'serve', ...args);
  await import(pathToFileURL(main).href);
}
