import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { FULL_RUN, QUICK_RUN, run } from './run.ts';

const HELP = `npm run bench [-- --quick] [-- --out FILE]: measures what a hit costs beside servers that do nothing.

  --quick     a short look at whether all of it works
  --out FILE  where the report goes; docs/benchmarks.md unless told, standard output for a quick run
`;
const REPORT = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));

const args = process.argv.slice(2);
const isQuick = args.includes('--quick');
const outAt = args.indexOf('--out');
const known = args.every((arg, at) => arg === '--quick' || arg === '--out' || (outAt >= 0 && at === outAt + 1));
if (!known || (outAt >= 0 && args[outAt + 1] === undefined)) {
  process.stderr.write(HELP);
  process.exit(args.includes('--help') ? 0 : 2);
}
const out = outAt >= 0 ? resolve(args[outAt + 1] ?? '') : isQuick ? undefined : REPORT;
const startedAtMs = performance.now();
const text = await run(isQuick ? QUICK_RUN : FULL_RUN, (line) => {
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1).padStart(6);
  process.stderr.write(`[${seconds} s] ${line}\n`);
});
const document = await format(text, { ...(await resolveConfig(REPORT)), parser: 'markdown' });
if (out === undefined) process.stdout.write(document);
else writeFileSync(out, document);
