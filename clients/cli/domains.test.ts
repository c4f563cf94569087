import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '../node/index.ts';
import { EXIT } from './exit.ts';
import { runCaptured } from './testing/captured-terminal.ts';
import { startCliServer, type CliServer } from './testing/cli-server.ts';

const STORED = 'opening hours of the library';
const ASKED = `${STORED} — please`;

let cli: CliServer;
beforeAll(async () => {
  cli = await startCliServer({
    domains: { strict: { similarityMin: 0.9999 }, lax: { similarityMin: 0.5, guards: [] } },
    domainRules: [{ domain: 'strict', words: ['kindly'] }],
  });
  await cli.store(STORED);
});
afterAll(() => cli.close());

const run = (asked: string, ...more: string[]) =>
  runCaptured(['explain', '--model', 'demo', '--user', asked, '--address', cli.address, ...more]);
const explain = async (asked: string, ...more: string[]): Promise<Explanation> =>
  (await run(asked, '--json', ...more)).json<Explanation>();

describe('a caller by gRPC', () => {
  it('may name a stricter domain: both hold', async () => {
    const { semantic } = await explain(ASKED, '--domain', 'strict');
    expect(semantic.domain).toBe('strict');
    expect(semantic.policies.map(({ domain }) => domain)).toEqual(['default', 'strict']);
    expect(semantic.candidates[0]?.reason).toBe('below-threshold');
  });

  it('gets nothing by naming a laxer one', async () => {
    const { semantic } = await explain(ASKED, '--domain', 'lax');
    expect(semantic.domain).toBe('default');
    expect(semantic.threshold).toBe(0.91);
    expect(semantic.candidates[0]?.reason).toBe('served');
    const strict = await explain(`${STORED} — kindly`, '--domain', 'lax');
    expect(strict.semantic.domain).toBe('strict');
  });

  it('may raise the threshold and not lower it', async () => {
    expect((await explain(ASKED, '--threshold', '1')).semantic.threshold).toBe(1);
    expect((await explain(ASKED, '--threshold', '0.1')).semantic.threshold).toBe(0.91);
  });

  it('is refused a domain that is not there', async () => {
    const { code, err } = await run(ASKED, '--domain', 'none');
    expect(code).toBe(EXIT.failed);
    expect(err).toContain('invalid_control');
  });
});

describe('reprise explain', () => {
  it('shows the domain, why, what holds, and what every guard says', async () => {
    const { out } = await run(`${STORED} — kindly in 5 minutes`);
    expect(out).toContain("domain       domainRules[0], by the word 'kindly'");
    expect(out).toContain('calibration  no calibration comes with Reprise for test-embedder');
    expect(out).toMatch(/strict: similarity ≥ 0\.9999, probability ≥ 0 \(not calibrated\), guards numbers/u);
    expect(out).toMatch(/guards on [0-9a-f]{12}: .*dates: veto/u);
  });
});

describe('reprise config', () => {
  it('says what semantic matching can be relied on for', async () => {
    const plain = await runCaptured(['config']);
    expect(plain.out).toContain('# semantic matching\n# embedder ');
    const { semantic } = (await runCaptured(['config', '--json'])).json<{ semantic: { calibration: string } }>();
    expect(semantic.calibration).not.toBe('');
  });
});
