import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { respondJson, startEvents } from '../models/testing/test-upstream.ts';
import { answerEvents, answerWith, says, startScriptedUpstream, writeEvent } from './testing/scripted-upstream.ts';
import type { ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';
const CREDENTIAL = 'sk-very-secret-credential';
const PROMPT = 'zebra prompt';
const ANSWER = 'quagga answer';
const USER = 'okapi-user';

let upstream: ScriptedUpstream;
let server: TestServer;
let log: string;

beforeEach(async () => {
  log = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log += chunk.toString();
      done();
    },
  });
  upstream = await startScriptedUpstream(answerWith(says(ANSWER)));
  server = await startTestServer(
    {
      upstreams: { test: { url: upstream.url, timeoutMs: 300 } },
      identity: { mode: 'forward' },
      semantic: { mode: 'serve' },
    },
    { embedder: new TestEmbedder() },
    pino({ level: 'debug' }, destination),
  );
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

it('no prompt, answer, user or credential is logged, counted or kept on disk', async () => {
  const headers = { authorization: `Bearer ${CREDENTIAL}` };
  const ask = (text: string, more: object = {}): Promise<unknown> =>
    server.post(
      CHAT,
      { model: 'm', temperature: 0, user: USER, messages: [{ role: 'user', content: `${PROMPT} | ${text}` }], ...more },
      { headers },
    );
  for (const text of ['please', 'please', 'tell me']) {
    await ask(text);
    await ask(text, { stream: true });
    await server.settled();
  }
  await server.post('/v1/embeddings', { model: 'e', input: [PROMPT] }, { headers });
  upstream.answer = (call) => respondJson(call.response, { error: { message: `${PROMPT}: ${ANSWER}` } }, 500);
  await ask('failing');
  upstream.answer = (call) => respondJson(call.response, `{"${ANSWER}`);
  await ask('garbled');
  upstream.answer = () => undefined;
  await ask('hanging');
  upstream.answer = (call) => {
    startEvents(call.response);
    writeEvent(call.response, answerEvents(call, says(ANSWER))[1]);
    call.response.end();
  };
  await ask('broken', { stream: true });
  await server.post(CHAT, `{"model":"m","messages":"${PROMPT}"`, { headers });
  await server.post(CHAT, { model: 'm', messages: [] }, { headers: { authorization: `Basic ${CREDENTIAL}` } });
  const metrics = (await server.get('/metrics')).text;
  const stats = (await server.get('/admin/stats', headers)).text;
  expect(log).toContain('"outcome":"hit"');
  for (const secret of [PROMPT, ANSWER, CREDENTIAL, USER, 'zebra', 'quagga']) {
    for (const text of [log, metrics, stats, JSON.stringify(server.records)]) expect(text).not.toContain(secret);
  }
});
