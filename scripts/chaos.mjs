import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { failSetUp, ROOT, setUp } from './lib/setup.mjs';

await setUp({ model: false }).catch(failSetUp);
const args = ['--import', 'tsx', join(ROOT, 'bench', 'chaos', 'main.ts'), ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
// The terminal signals the run too; this process waits for it to end what it started.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('close', (code) => process.exit(code ?? 1));
