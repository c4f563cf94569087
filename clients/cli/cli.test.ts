import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation, InvalidateReply, Stats } from '../node/index.ts';
import { EXIT } from './exit.ts';
import { runCaptured, type CliRun } from './testing/captured-terminal.ts';
import { startCliServer, type CliServer } from './testing/cli-server.ts';

const QUESTION = 'opening hours of the library';
const REPHRASED = 'opening hours of the library — please';
const SHA256_OF_KEY = createHash('sha256').update('reader-key').digest('hex');

let cli: CliServer;
let entryId: string;
let folder: string;
const ask = (...args: string[]): Promise<CliRun> => runCaptured([...args, '--address', cli.address]);

beforeAll(async () => {
  cli = await startCliServer();
  entryId = await cli.store(QUESTION);
  folder = mkdtempSync(join(tmpdir(), 'reprise-cli-'));
});
afterAll(async () => {
  await cli.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('reprise lookup', () => {
  it('prints the stored answer and where it comes from', async () => {
    const { code, out } = await ask('lookup', '--model', 'demo', '--user', QUESTION);
    expect(code).toBe(EXIT.done);
    expect(out).toContain('hit (exact-l1)');
    expect(out).toContain(entryId);
    expect(out).toContain(QUESTION);
  });

  it('prints one JSON document with the answer in it', async () => {
    const run = await ask('lookup', '--model', 'demo', '--user', QUESTION, '--json');
    expect(run.json()).toMatchObject({
      status: { outcome: 'hit', entryId },
      contentType: 'application/json',
      body: { object: 'chat.completion' },
    });
  });

  it('prints nothing but the answer with --raw', async () => {
    const { out, err } = await ask('lookup', '--model', 'demo', '--user', QUESTION, '--raw');
    expect(JSON.parse(out)).toMatchObject({ object: 'chat.completion' });
    expect(err).toContain('hit');
  });

  it('fails where nothing is stored, with a document where one is asked for', async () => {
    const plain = await ask('lookup', '--model', 'demo', '--user', 'something never asked');
    expect([plain.code, plain.out]).toEqual([EXIT.failed, '']);
    expect(plain.err).toContain('not_cached');
    const asDocument = await ask('lookup', '--model', 'demo', '--user', 'something never asked', '--json');
    expect(asDocument.code).toBe(EXIT.failed);
    expect(asDocument.json()).toMatchObject({ error: { code: 'not_cached' } });
  });

  it('takes a whole request from a file or standard input', async () => {
    const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: QUESTION }] });
    const file = join(folder, 'request.json');
    writeFileSync(file, body);
    expect((await ask('lookup', '--body', file)).code).toBe(EXIT.done);
    const piped = await runCaptured(['lookup', '--body', '-', '--address', cli.address], body);
    expect(piped.code).toBe(EXIT.done);
  });

  it('asks for completions and embeddings in their own shape', async () => {
    const completion = await ask('explain', '--operation', 'completions', '--model', 'demo', '--user', 'x', '--json');
    expect(completion.code).toBe(EXIT.done);
    const embedding = await ask('lookup', '--operation', 'embeddings', '--model', 'demo', '--user', 'x');
    expect(embedding.err).toMatch(/not_cached/);
  });
});

describe('reprise explain', () => {
  it('names the candidate that serves, with its similarity', async () => {
    const { code, out } = await ask('explain', '--model', 'demo', '--user', REPHRASED);
    expect(code).toBe(EXIT.done);
    expect(out).toMatch(/Answered from memory: hit \(semantic\)/);
    expect(out).toMatch(new RegExp(`0\\.9\\d+ .* served .* ${entryId.slice(0, 12)} .*${QUESTION}`));
  });

  it('gives the whole explanation as JSON', async () => {
    const run = await ask('explain', '--model', 'demo', '--user', REPHRASED, '--json');
    const explanation = run.json<Explanation>();
    expect(explanation.status).toMatchObject({ outcome: 'hit', detail: 'semantic', entryId });
    expect(explanation.semantic.candidates[0]).toMatchObject({ entryId, served: true });
  });

  it('names the fields in which the nearest stored key differs', async () => {
    const { out } = await ask('explain', '--model', 'demo', '--system', 'Be brief.', '--user', QUESTION);
    expect(out).toContain('The model would be called: miss');
    expect(out).toMatch(new RegExp(`Nearest stored key ${entryId}\n {2}differs in .*messages`));
  });

  it('takes controls, which only make it stricter', async () => {
    const run = await ask('explain', '--model', 'demo', '--user', REPHRASED, '--threshold', '1', '--json');
    expect(run.json<Explanation>().status.outcome).toBe('miss');
    const tagged = await ask('explain', '--model', 'demo', '--user', QUESTION, '--tag', 'a', '--tag', 'b', '--json');
    expect(tagged.json<Explanation>().nearest?.differingFields).toEqual(['(tags)']);
  });

  it("says the node's own reason when it refuses", async () => {
    const run = await ask('explain', '--model', 'demo', '--user', 'x', '--domain', 'nowhere', '--json');
    expect(run.code).toBe(EXIT.failed);
    expect(run.json()).toMatchObject({ error: { code: 'invalid_control' } });
    expect(run.err).toContain('nowhere');
  });
});

describe('reprise invalidate', () => {
  const lookup = (question: string): Promise<CliRun> => ask('lookup', '--model', 'demo', '--user', question);

  it('makes an entry invalid, and purges it', async () => {
    const id = await cli.store('a question to purge');
    const { code, out } = await ask('invalidate', '--entry', id, '--purge');
    expect(code).toBe(EXIT.done);
    expect(out).toMatch(
      /^Invalid on this node, whose answers are in its own process \(ledger sequence \d+, 1 entry removed\)\.\n$/,
    );
    expect((await lookup('a question to purge')).code).toBe(EXIT.failed);
  });

  it('makes a namespace stale with --soft', async () => {
    const run = await ask('invalidate', '--namespace', 'other', '--soft', '--json');
    expect(run.json<InvalidateReply>()).toMatchObject({ reach: 'node', stalenessBoundMs: 2_000, removedEntries: 0 });
  });

  it.each(['--model', '--tenant'])('asks for confirmation of %s', async (option) => {
    const refused = await ask('invalidate', option, 'elsewhere');
    expect(refused.code).toBe(EXIT.usage);
    expect(refused.err).toContain('--yes');
    expect((await ask('invalidate', option, 'elsewhere', '--yes')).code).toBe(EXIT.done);
  });

  it.each([
    [['invalidate']],
    [['invalidate', '--tag', 'a', '--entry', 'b']],
    [['invalidate', '--entry', 'a', '--of-tenant', 'b']],
    [['invalidate', '--tag', '']],
    [['invalidate', '--tag', 'a', '--of-tenant', '']],
    [['invalidate', '--tenant', '', '--yes']],
  ])('refuses %o', async (args) => {
    expect((await ask(...args)).code).toBe(EXIT.usage);
  });
});

describe('reprise stats', () => {
  it('prints outcomes that sum to all requests', async () => {
    const { code, out } = await ask('stats');
    expect(code).toBe(EXIT.done);
    expect(out).toMatch(/^outcome +requests +share\n/);
    expect(out).toMatch(/hit rate +\d/);
    const stats = (await ask('stats', '--json')).json<Stats>();
    expect(Object.values(stats.byOutcome).reduce((sum, times) => sum + times, 0)).toBe(stats.requests);
  });
});

describe('a node that asks for a key', () => {
  it('gets it from --credential, and refuses without', async () => {
    const keyed = await startCliServer({
      identity: { keys: [{ name: 'reader', sha256: SHA256_OF_KEY, tenant: 'acme' }] },
    });
    try {
      const request = ['explain', '--model', 'demo', '--user', 'x'];
      const without = await runCaptured([...request, '--address', keyed.address]);
      expect([without.code, without.err]).toEqual([EXIT.failed, expect.stringContaining('missing_credential')]);
      const reader = ['--address', keyed.address, '--credential', 'reader-key'];
      expect((await runCaptured([...request, ...reader])).code).toBe(EXIT.done);
      const tooMuch = await runCaptured(['invalidate', '--tag', 'a', ...reader]);
      expect([tooMuch.code, tooMuch.err]).toEqual([EXIT.failed, expect.stringContaining('permission_denied')]);
      expect(tooMuch.err).not.toContain('reader-key');
    } finally {
      await keyed.close();
    }
  });
});

describe('a node that is not there', () => {
  it('ends with the exit code for it', async () => {
    const run = await runCaptured(['stats', '--address', `127.0.0.1:${await freePort()}`, '--json']);
    expect(run.code).toBe(EXIT.unreachable);
    expect(run.err).toContain('reprise serve');
    expect(run.json()).toMatchObject({ error: { code: 'unreachable' } });
  });

  it('may be another server', async () => {
    const { port } = new URL(cli.server.http.url);
    const run = await runCaptured(['stats', '--address', `127.0.0.1:${port}`]);
    expect(run.code).toBe(EXIT.unreachable);
  });
});

describe('the command line', () => {
  it.each([
    [['nonsense']],
    [['stats', '--nonsense']],
    [['stats', 'nonsense']],
    [['lookup']],
    [['lookup', '--model', 'demo']],
    [['lookup', '--body', '/does/not/exist']],
    [['lookup', '--body', '-', '--user', 'x']],
    [['explain', '--model', 'm', '--user', 'x', '--operation', 'nonsense']],
    [['explain', '--model', 'm', '--user', 'x', '--threshold', '1.5']],
    [['explain', '--model', 'm', '--user', 'x', '--bucket', '0.5']],
    [['explain', '--model', 'm', '--user', 'x', '--system', 'y', '--operation', 'embeddings']],
    [['stats', '--address', 'nowhere']],
    [['serve', '--http-port', '70000']],
    [[]],
  ])('%o is a usage error, told on standard error', async (args) => {
    const { code, out, err } = await runCaptured(args);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).not.toBe('');
  });

  it.each(['serve', 'lookup', 'explain', 'invalidate', 'stats', 'config', 'doctor'])(
    '%s --help has examples',
    async (command) => {
      const { code, out } = await runCaptured([command, '--help']);
      expect(code).toBe(EXIT.done);
      expect(out).toMatch(new RegExp(`Examples:\n.*\\$ .*reprise ${command}`));
    },
  );

  it('tells its version', async () => {
    expect(await runCaptured(['--version'])).toMatchObject({
      code: EXIT.done,
      out: expect.stringMatching(/^\d+\.\d+/) as string,
    });
  });
});

describe('reprise config', () => {
  const config = (text: string): string => {
    const file = join(folder, 'reprise.yaml');
    writeFileSync(file, text);
    return file;
  };

  it('prints effective settings with their origins', async () => {
    const file = config('server: { httpPort: 9001 }\n');
    const { code, out } = await runCaptured(['config', '--config', file, '--origins']);
    expect(code).toBe(EXIT.done);
    expect(out).toMatch(/^server\.httpPort +9001 +.*reprise\.yaml$/m);
    expect(out).toMatch(/^server\.grpcPort +\d+ +(default|REPRISE_GRPC_PORT)$/m);
  });

  it('hides credentials', async () => {
    const file = config(`identity: { keys: [{ sha256: ${SHA256_OF_KEY}, tenant: acme }] }\n`);
    const run = await runCaptured(['config', '--config', file, '--json']);
    expect(run.json()).toMatchObject({ settings: expect.any(Array) as unknown });
    expect(run.out).not.toContain(SHA256_OF_KEY);
    expect(run.out).toContain('acme');
  });

  it('fails with the nearest name of an unknown setting', async () => {
    const run = await runCaptured(['config', '--config', config('serverr: {}\n')]);
    expect(run.code).toBe(EXIT.failed);
    expect(run.err).toMatch(/config_invalid: .*did you mean server\?/);
  });
});

/** A port that nothing listens on. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
