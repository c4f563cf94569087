import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelRequest, Operation } from '../ports/model.ts';
import { DemoModel } from './demo-model.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { modelOf, respondJson, startEvents, startUpstream } from './testing/test-upstream.ts';
import type { TestUpstream } from './testing/test-upstream.ts';

const OPTIONS = { signal: new AbortController().signal, deadlineAtMs: Infinity };
const TOOL = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** The demo model behind HTTP, an adapter to it, that adapter behind HTTP, and the official client: both wires are real. */
const demo = new DemoModel({ clock: new ManualClock() }, { firstTokenMs: 0, perTokenMs: 0, models: ['demo'] });
const servers: TestUpstream[] = [];
let client: OpenAI;

async function serve(model: Pick<DemoModel, 'call' | 'stream'>): Promise<string> {
  const server = await startUpstream(async (seen, response) => {
    const operation: Operation = seen.path.endsWith('/chat/completions') ? 'chat.completions' : 'completions';
    const request: ModelRequest = { operation, model: 'demo', body: Buffer.from(seen.body) };
    if (!seen.body.includes('"stream":true')) {
      const reply = await model.call(request, OPTIONS);
      return respondJson(response, Buffer.from(reply.body).toString());
    }
    const stream = await model.stream(request, OPTIONS);
    if (stream.kind !== 'events') throw new Error('no stream');
    startEvents(response);
    for await (const event of stream.events) response.write(`data: ${Buffer.from(event).toString()}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  servers.push(server);
  return server.url;
}

beforeAll(async () => {
  const adapter = modelOf(await serve(demo), new ManualClock());
  client = new OpenAI({ baseURL: `${await serve(adapter)}/v1`, apiKey: 'any', maxRetries: 0 });
});
afterAll(async () => {
  for (const server of servers) await server.close();
});

describe('the official client on the demo model', () => {
  it.each([
    { messages: [{ role: 'user' as const, content: 'How do I reset my password?' }] },
    { messages: [{ role: 'user' as const, content: 'Hello' }], n: 2 },
    { messages: [{ role: 'user' as const, content: 'weather in Paris' }], tools: [TOOL] },
  ])('gets the same message whole and streamed (%o)', async (fields) => {
    const request = { model: 'demo', ...fields };
    const whole = await client.chat.completions.create(request);
    const streamed = await client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion();
    expect(streamed.usage).toEqual(whole.usage);
    for (const [index, choice] of whole.choices.entries()) {
      expect(streamed.choices[index]?.finish_reason).toBe(choice.finish_reason);
      expect(streamed.choices[index]?.message.content).toBe(choice.message.content);
      expect(functionsOf(streamed.choices[index]?.message)).toEqual(functionsOf(choice.message));
    }
  });

  it('gets completions', async () => {
    const answer = await client.completions.create({ model: 'demo', prompt: 'What is it?' });
    expect(answer.choices[0]?.text).toContain('What is it?');
  });
});

function functionsOf(message: OpenAI.ChatCompletionMessage | undefined) {
  return (message?.tool_calls ?? []).map((call) =>
    call.type === 'function' ? { name: call.function.name, arguments: call.function.arguments } : call,
  );
}
