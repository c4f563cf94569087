import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { banner } from './banner.ts';
import { runServer } from './run-server.ts';

describe('the banner', () => {
  it('has a command that a shell fills the key into', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'reprise-banner-'));
    const config = loadConfig({
      file: false,
      env: { REPRISE_API_KEYS: 'secret:acme' },
      overrides: { dataDir, server: { httpPort: 0, grpcPort: 0 }, telemetry: { logLevel: 'error' } },
    });
    const server = await runServer(config, { embedder: { missing: 'not in this test' } });
    try {
      const text = banner(config, server);
      const command = /^ {2}curl -i (.*\\\n.*)$/mu.exec(text)?.[1] ?? '';
      const shell = spawnSync('sh', ['-c', `printf '%s\\n' ${command}`], { env: { YOUR_KEY: 'secret' } });
      const args = shell.stdout.toString().split('\n');
      expect(args).toContain('authorization: Bearer secret');
      expect(args).toContain(`${server.http.url}/v1/chat/completions`);
    } finally {
      await server.close(0);
      rmSync(dataDir, { recursive: true });
    }
  });
});
