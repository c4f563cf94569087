import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerEvents, answerWith, startScriptedUpstream, wholeAnswer } from './testing/scripted-upstream.ts';
import type { ScriptedAnswer, ScriptedUpstream } from './testing/scripted-upstream.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';

const PYTHON = process.env['REPRISE_TEST_PYTHON'] ?? 'python3';
const SCRIPT = fileURLToPath(new URL('testing/openai-client.py', import.meta.url));

function hasClient(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import openai'], { stdio: 'ignore', timeout: 30_000 });
    return true;
  } catch {
    console.log(
      `Left out: the tests with the Python client; ${PYTHON} has no package openai (REPRISE_TEST_PYTHON names another).`,
    );
    return false;
  }
}

interface PythonReply {
  readonly cache: string;
  readonly answer?: unknown;
  readonly chunks?: readonly unknown[];
}

const ANSWER: ScriptedAnswer = {
  choices: [
    {
      reasoning: 'Two cities, two calls.',
      toolCalls: [{ id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' }],
    },
    { content: 'Grüße aus Oslo, 12 °C 🌨' },
  ],
  promptTokens: 31,
  completionTokens: 24,
};

describe.skipIf(!hasClient())('the official Python client', () => {
  let upstream: ScriptedUpstream;
  let server: TestServer;

  beforeAll(async () => {
    upstream = await startScriptedUpstream(answerWith(ANSWER));
    server = await startTestServer({ upstreams: { test: { url: upstream.url } } });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  async function ask(requests: readonly object[]): Promise<PythonReply[]> {
    const replies = await new Promise<string>((resolve, reject) => {
      const child = execFile(PYTHON, [SCRIPT], { timeout: 60_000 }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
      child.stdin?.end(JSON.stringify({ url: `${server.url}/v1`, requests }));
    });
    return JSON.parse(replies) as PythonReply[];
  }

  it('gets equal objects on miss and hit, whole, streamed, and one from the other', async () => {
    const whole = chat('Whole first?');
    const streamed = { ...chat('Streamed first?'), stream: true };
    const [miss, hit, events, firstEvents, againEvents, withUsage, assembled] = await ask([
      whole,
      whole,
      { ...whole, stream: true },
      streamed,
      streamed,
      { ...streamed, stream_options: { include_usage: true } },
      { ...streamed, stream: false },
    ]);
    expect(upstream.calls).toHaveLength(2);
    const [first, second] = [await upstream.arrived(1), await upstream.arrived(2)];
    expect(miss?.cache).toContain('fwd=miss');
    expect(miss?.answer).toEqual(wholeAnswer(first, ANSWER));
    expect(hit).toEqual({ cache: expect.stringContaining('hit') as string, answer: miss?.answer });
    expect(events?.cache).toContain('hit');
    expect(events?.chunks?.length).toBeGreaterThan(2);
    const sent = answerEvents(second, ANSWER);
    expect(firstEvents?.chunks).toEqual(sent.slice(0, -1));
    expect(againEvents?.chunks).toEqual(firstEvents?.chunks);
    expect(withUsage?.chunks).toEqual(sent);
    expect(assembled?.cache).toContain('hit');
    expect(assembled?.answer).toEqual(wholeAnswer(second, ANSWER));
  });

  it('gets completions', async () => {
    const request = { kind: 'completion', model: 'instruct', prompt: 'Once' };
    const [miss, hit] = await ask([request, request]);
    expect(hit?.cache).toContain('hit');
    expect(hit?.answer).toEqual(miss?.answer);
  });
});

function chat(text: string): object {
  const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }];
  return { kind: 'chat', model: 'gpt-test', messages: [{ role: 'user', content: text }], tools, n: 2 };
}
