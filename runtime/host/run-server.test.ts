import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { signalled, startEvents } from '../models/testing/test-upstream.ts';
import { runServer, type RunningServer } from './run-server.ts';
import {
  answerEvents,
  endEvents,
  says,
  startScriptedUpstream,
  writeEvent,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts';

const LIMIT_MS = 10_000;
const BODY = JSON.stringify({ model: 'gpt-test', stream: true, messages: [{ role: 'user', content: 'Tell.' }] });

let upstream: ScriptedUpstream;
let server: RunningServer;
let dataDir: string;
/** Lets the upstream end the stream that it has begun. */
let gate: ReturnType<typeof signalled<void>>;

beforeEach(async () => {
  gate = signalled<void>();
  upstream = await startScriptedUpstream(async (call) => {
    const [first, ...rest] = answerEvents(call, says('One. Two.'));
    startEvents(call.response);
    writeEvent(call.response, first);
    await gate.promise;
    for (const event of rest) writeEvent(call.response, event);
    endEvents(call.response);
  });
  dataDir = await mkdtemp(join(tmpdir(), 'reprise-test-'));
  const config = loadConfig({
    file: false,
    env: {},
    overrides: {
      dataDir,
      server: { httpPort: 0, grpcPort: 0 },
      semantic: { mode: 'off' },
      telemetry: { logLevel: 'error' },
      upstreams: { test: { url: upstream.url } },
    },
  });
  server = await runServer(config, { embedder: { missing: 'not in this test' } });
});

afterEach(async () => {
  gate.resolve();
  await server.close(0);
  await upstream.close();
  await rm(dataDir, { recursive: true });
});

/** A stream whose first event is here; `rest` reads it to its end. */
async function begin(): Promise<{ rest(): Promise<string> }> {
  const response = await fetch(`${server.http.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: BODY,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return {
    async rest() {
      const parts: Uint8Array[] = [];
      for (let read = await reader.read(); !read.done; read = await reader.read()) parts.push(read.value);
      return Buffer.concat(parts).toString();
    },
  };
}

describe('a server that closes', () => {
  it('lets a running stream come to its end', async () => {
    const stream = await begin();
    const closed = server.close(LIMIT_MS);
    gate.resolve();
    expect(await stream.rest()).toMatch(/data: \[DONE\]\n\n$/);
    await closed;
  });

  it('ends a stream that is left at the limit with an error event and no [DONE]', async () => {
    const stream = await begin();
    const closed = server.close(0);
    const rest = await stream.rest();
    expect(rest).toContain('"code":"draining"');
    expect(rest).not.toContain('[DONE]');
    await closed;
  });
});
