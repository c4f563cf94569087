import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signalled } from '../models/testing/test-upstream.ts';
import {
  answerEvents,
  answerWith,
  endEvents,
  says,
  startScriptedUpstream,
  writeEvent,
  type CallAnswer,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';
import { startEvents } from '../models/testing/test-upstream.ts';

const CHAT = '/v1/chat/completions';
const PARTICIPANTS = 64;

let upstream: ScriptedUpstream;
let server: TestServer;

beforeEach(async () => {
  upstream = await startScriptedUpstream(answerWith(says('Yes.')));
  // Long enough that the home of a flight answers on a busy machine.
  server = await startTestServer({ upstreams: { test: { url: upstream.url } }, cache: { joinDeadlineMs: 10_000 } });
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

function chat(text: string, stream = false): object {
  return { model: 'gpt-test', messages: [{ role: 'user', content: text }], ...(stream ? { stream: true } : {}) };
}

function followed(count: number): Promise<void> {
  return server.telemetry.counted(count, 'reprise_flight_followers_total');
}

/** Holds every call until `release`, then answers as `answer` does. */
function held(answer: CallAnswer): { release: () => void } {
  const gate = signalled();
  upstream.answer = async (call) => {
    await gate.promise;
    await answer(call);
  };
  return { release: () => gate.resolve() };
}

function contentOf(reply: TestReply): string {
  if (!reply.text.startsWith('data:')) {
    return reply.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content ?? '';
  }
  const events = reply.text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] });
  return events.map((event) => event.choices[0]?.delta.content ?? '').join('');
}

describe('64 identical requests at once', () => {
  it.each([
    { kind: 'whole', isStream: () => false },
    { kind: 'streamed', isStream: () => true },
    { kind: 'whole and streamed, a stream leading', isStream: (index: number) => index % 2 === 0 },
    { kind: 'whole and streamed, a whole one leading', isStream: (index: number) => index % 2 === 1 },
  ])('make one model call: $kind', async ({ isStream }) => {
    const { release } = held(answerWith(says('The one and only answer.')));
    const leader = server.post(CHAT, chat('Same?', isStream(0)));
    await upstream.arrived(1);
    const others = Array.from({ length: PARTICIPANTS - 1 }, (_, index) =>
      server.post(CHAT, chat('Same?', isStream(index + 1))),
    );
    await followed(PARTICIPANTS - 1);
    release();
    const replies = await Promise.all([leader, ...others]);
    expect(upstream.calls).toHaveLength(1);
    expect(new Set(replies.map(contentOf))).toEqual(new Set(['The one and only answer.']));
    expect(replies.every((reply) => reply.status === 200)).toBe(true);
    expect(replies[0]?.cache).toContain('fwd=miss; stored');
    expect(replies.slice(1).every((reply) => reply.cache.includes('detail=coalesced'))).toBe(true);
    expect(replies.every((reply, index) => reply.text.startsWith('data:') === isStream(index))).toBe(true);
  });

  it('make one model call when all of them start on a cold key with nothing held', async () => {
    const replies = await Promise.all(
      Array.from({ length: PARTICIPANTS }, (_, index) => server.post(CHAT, chat('Cold?', index % 3 === 0))),
    );
    expect(upstream.calls).toHaveLength(1);
    expect(new Set(replies.map(contentOf))).toEqual(new Set(['Yes.']));
  });

  it('share the same live stream: followers get its first chunk before the last is there', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      const events = answerEvents(call, says('First then last.'));
      startEvents(call.response);
      writeEvent(call.response, events[0]);
      writeEvent(call.response, events[1]);
      await gate.promise;
      for (const event of events.slice(2)) writeEvent(call.response, event);
      endEvents(call.response);
    };
    const responses = await Promise.all(Array.from({ length: 8 }, () => server.open(CHAT, chat('Live?', true))));
    const readers = responses.map((response) => response.body!.pipeThrough(new TextDecoderStream()).getReader());
    const beginnings = await Promise.all(readers.map((reader) => readUntil(reader, 'First ')));
    gate.resolve();
    const ends = await Promise.all(readers.map((reader) => readUntil(reader, '[DONE]')));
    expect(beginnings.every((text) => !text.includes('[DONE]'))).toBe(true);
    expect(ends.every((text) => text.includes('last.'))).toBe(true);
    expect(upstream.calls).toHaveLength(1);
  });
});

async function readUntil(reader: ReadableStreamDefaultReader<string>, wanted: string): Promise<string> {
  let text = '';
  while (!text.includes(wanted)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended without ${wanted}`);
    text += value;
  }
  return text;
}

describe('leaving a flight', () => {
  const left = (count: number): Promise<void> =>
    server.telemetry.counted(count, 'reprise_requests_total', 'chat.completions', 'cancelled', '');

  it.each([false, true])('a follower that leaves disturbs nobody, stream %s', async (stream) => {
    const { release } = held(answerWith(says('For those who stay.')));
    const leader = server.post(CHAT, chat('Stay?', stream));
    await upstream.arrived(1);
    const leaving = new AbortController();
    const gone = server.post(CHAT, chat('Stay?', stream), { signal: leaving.signal });
    const stays = server.post(CHAT, chat('Stay?', stream));
    await followed(2);
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await left(1);
    release();
    expect(contentOf(await leader)).toBe('For those who stay.');
    expect(contentOf(await stays)).toBe('For those who stay.');
    expect(upstream.calls).toHaveLength(1);
  });

  it.each([false, true])(
    'the leader that leaves disturbs nobody, and its answer is stored, stream %s',
    async (stream) => {
      const { release } = held(answerWith(says('Still here.')));
      const leaving = new AbortController();
      const gone = server.post(CHAT, chat('Lead?', stream), { signal: leaving.signal });
      await upstream.arrived(1);
      const follower = server.post(CHAT, chat('Lead?', stream));
      await followed(1);
      leaving.abort();
      await expect(gone).rejects.toThrow();
      await left(1);
      release();
      expect(contentOf(await follower)).toBe('Still here.');
      await server.settled();
      expect((await server.post(CHAT, chat('Lead?', stream))).cache).toContain('detail=exact-l1');
      expect(upstream.calls).toHaveLength(1);
    },
  );

  it.each([false, true])(
    'the last one that leaves aborts the call; the next request calls again, stream %s',
    async (stream) => {
      const { release } = held(answerWith(says('Too late.')));
      const leaving = new AbortController();
      const leader = server.post(CHAT, chat('Last?', stream), { signal: leaving.signal });
      const call = await upstream.arrived(1);
      const follower = server.post(CHAT, chat('Last?', stream), { signal: leaving.signal });
      await followed(1);
      leaving.abort();
      await expect(leader).rejects.toThrow();
      await expect(follower).rejects.toThrow();
      await call.closed;
      release();
      expect(call.response.writableFinished).toBe(false);
      expect(contentOf(await server.post(CHAT, chat('Last?', stream)))).toBe('Too late.');
      expect(upstream.calls).toHaveLength(2);
    },
  );

  it('a stream that its only reader leaves half-way is aborted and not stored', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      const events = answerEvents(call, says('Half of it.'));
      startEvents(call.response);
      writeEvent(call.response, events[1]);
      await gate.promise;
    };
    const leaving = new AbortController();
    const response = await server.open(CHAT, chat('Half?', true), { signal: leaving.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await readUntil(reader, 'Half ');
    const call = await upstream.arrived(1);
    leaving.abort();
    await call.closed;
    gate.resolve();
    await left(1);
    await server.settled();
    upstream.answer = answerWith(says('Whole.'));
    expect(contentOf(await server.post(CHAT, chat('Half?', true)))).toBe('Whole.');
  });

  it('an abandoned call is finished and stored where the settings say so', async () => {
    const own = await startTestServer({
      upstreams: { test: { url: upstream.url } },
      cache: { abandonedFlight: 'finish' },
    });
    try {
      const { release } = held(answerWith(says('Kept.')));
      const leaving = new AbortController();
      const gone = own.post(CHAT, chat('Finish?'), { signal: leaving.signal });
      await upstream.arrived(1);
      leaving.abort();
      await expect(gone).rejects.toThrow();
      await own.telemetry.counted(1, 'reprise_requests_total', 'chat.completions', 'cancelled', '');
      release();
      await own.telemetry.counted(1, 'reprise_stores_total', 'stored');
      expect((await own.post(CHAT, chat('Finish?'))).cache).toContain('detail=exact-l1');
      expect(upstream.calls).toHaveLength(1);
    } finally {
      await own.close();
    }
  });
});

describe('invalidation and flights', () => {
  it('a purge between two requests separates their flights, and only the later answer is stored', async () => {
    const gates = [signalled(), signalled()];
    upstream.answer = async (call) => {
      await gates[call.number - 1]?.promise;
      await answerWith(says(`Answer ${call.number}.`))(call);
    };
    const before = server.post(CHAT, chat('When?'));
    await upstream.arrived(1);
    const purged = await server.post('/admin/invalidate', { namespace: 'default', purge: true });
    expect(purged.status).toBe(200);
    const after = server.post(CHAT, chat('When?'));
    await upstream.arrived(2);
    gates[1]?.resolve();
    expect(contentOf(await after)).toBe('Answer 2.');
    gates[0]?.resolve();
    expect(contentOf(await before)).toBe('Answer 1.');
    await server.settled();
    const later = await server.post(CHAT, chat('When?'));
    expect(later.cache).toContain('hit');
    expect(contentOf(later)).toBe('Answer 2.');
  });

  it('an answer whose names were marked while the model ran is given but not stored', async () => {
    const { release } = held(answerWith(says('Old news.')));
    const asked = server.post(CHAT, chat('News?'), { headers: { 'x-reprise-tags': 'news' } });
    await upstream.arrived(1);
    await server.post('/admin/invalidate', { tag: 'news' });
    release();
    expect(contentOf(await asked)).toBe('Old news.');
    await server.settled();
    expect(server.telemetry.count('reprise_stores_total', 'overtaken')).toBe(1);
    const next = await server.post(CHAT, chat('News?'), { headers: { 'x-reprise-tags': 'news' } });
    expect(next.cache).toContain('fwd=miss');
  });
});

describe('requests that neither join nor lead', () => {
  it.each(['no-cache', 'no-store'])('%s calls the model on its own beside a flight', async (directive) => {
    const { release } = held(answerWith(says('Own.')));
    const shared = server.post(CHAT, chat('Alone?'));
    await upstream.arrived(1);
    const alone = server.post(CHAT, chat('Alone?'), { headers: { 'cache-control': directive } });
    await upstream.arrived(2);
    release();
    expect((await alone).cache).not.toContain('hit');
    expect((await shared).cache).toContain('fwd=miss');
  });
});
