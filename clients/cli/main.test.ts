import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from './exit.ts';
import { startCliServer, type CliServer } from './testing/cli-server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const TIMEOUT_MS = 60_000;

let cli: CliServer;
beforeAll(async () => {
  cli = await startCliServer();
});
afterAll(() => cli.close());

/** The CLI as a process of its own, from its sources; of our environment's settings it gets only `env`. */
function start(args: readonly string[], env: Record<string, string>, out: 'pipe' | number = 'pipe'): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('REPRISE_'));
  return spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', out, 'pipe'],
  });
}

interface Output {
  out: string;
  err: string;
}

function collected(child: ChildProcess): Output {
  const output: Output = { out: '', err: '' };
  child.stdout?.on('data', (part: Buffer) => (output.out += part.toString()));
  child.stderr?.on('data', (part: Buffer) => (output.err += part.toString()));
  return output;
}

describe('the reprise process', () => {
  it(
    'finds the node by REPRISE_ADDRESS, prints one document and exits 0',
    async () => {
      const child = start(['stats', '--json'], { REPRISE_ADDRESS: cli.address });
      const output = collected(child);
      const [code] = (await once(child, 'close')) as [number];
      expect([code, output.err]).toEqual([EXIT.done, '']);
      expect(JSON.parse(output.out)).toMatchObject({ requests: expect.any(Number) as number });
    },
    TIMEOUT_MS,
  );

  it(
    'exits with the code of a usage error',
    async () => {
      const child = start(['stats', '--nonsense'], {});
      const output = collected(child);
      const [code] = (await once(child, 'close')) as [number];
      expect([code, output.out]).toEqual([EXIT.usage, '']);
    },
    TIMEOUT_MS,
  );

  it(
    'outlives a reader that goes away early',
    async () => {
      const child = start(['config'], {});
      child.stdout?.destroy();
      const output = collected(child);
      const [code] = (await once(child, 'close')) as [number];
      expect([code, output.err]).toEqual([EXIT.done, '']);
    },
    TIMEOUT_MS,
  );

  it.runIf(existsSync('/dev/full'))(
    'says in one line that standard output can not be written, and exits with failed',
    async () => {
      const full = openSync('/dev/full', 'w');
      const child = start(['config'], {}, full);
      const output = collected(child);
      const [code] = (await once(child, 'close')) as [number];
      closeSync(full);
      expect(output.err).toBe("reprise: data_invalid: Standard output can't be written (ENOSPC).\n");
      expect(code).toBe(EXIT.failed);
    },
    TIMEOUT_MS,
  );

  it(
    'serves until SIGTERM, then exits 0',
    async () => {
      const env = { REPRISE_SEMANTIC: 'off', REPRISE_LOG_LEVEL: 'error' };
      const child = start(['serve', '--http-port', '0', '--grpc-port', '0'], env);
      const output = collected(child);
      const url = await new Promise<string>((resolve, reject) => {
        child.once('close', () => reject(new Error(output.err)));
        child.stderr?.on('data', () => {
          const found = /HTTP +(http:\S+)[^]*Ctrl-C/.exec(output.err)?.[1];
          if (found !== undefined) resolve(found);
        });
      });
      const health = await fetch(`${url}/healthz`);
      expect(health.status).toBe(200);
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number];
      expect(code).toBe(EXIT.done);
    },
    TIMEOUT_MS,
  );
});
