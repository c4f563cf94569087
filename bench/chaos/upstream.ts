import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTo } from './questions.ts';

/** A model server of known latency: `upstream.ts LATENCY_MS`. Says `ready PORT`. */
const latencyMs = Number(process.argv[2] ?? 0);

interface Asked {
  readonly messages: readonly { readonly content: string }[];
}

function answer(body: string): string {
  const text = (JSON.parse(body) as Asked).messages.at(-1)?.content ?? '';
  return JSON.stringify({
    id: 'chatcmpl-chaos',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'chaos',
    choices: [{ index: 0, message: { role: 'assistant', content: answerTo(text) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 },
  });
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const text = answer(Buffer.concat(parts).toString());
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    }, latencyMs);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`));
