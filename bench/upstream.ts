import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Text of one event of a streamed answer. */
const EVENT_CHARACTERS = 24;
const STREAM_MEMBER = '"stream":true';
const HEAD = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'bench-model' };
const USAGE = { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 };

/** A chat completion of `bytes` bytes; of the smallest possible size where that is more. */
export function wholeAnswer(bytes: number): Buffer {
  const answer = (content: string): string =>
    JSON.stringify({
      ...HEAD,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: USAGE,
    });
  return Buffer.from(answer('a'.repeat(Math.max(1, bytes - answer('').length))));
}

/** The same as an event stream, of about `bytes` bytes. */
export function streamedAnswer(bytes: number): Buffer {
  const event = (choices: object[], rest: object = {}): string =>
    `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices, ...rest })}\n\n`;
  const piece = event([{ index: 0, delta: { content: 'a'.repeat(EVENT_CHARACTERS) }, finish_reason: null }]);
  const first = event([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
  const last = event([{ index: 0, delta: {}, finish_reason: 'stop' }]) + event([], { usage: USAGE });
  const pieces = Math.max(1, Math.round((bytes - first.length - last.length) / piece.length));
  return Buffer.from(`${first}${piece.repeat(pieces)}${last}data: [DONE]\n\n`);
}

/** A model server without a model: answers at once, with as many bytes as it was sent. */
function serve(): void {
  const answers = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      const streams = body.includes(STREAM_MEMBER);
      const id = `${body.length} ${streams}`;
      let answer = answers.get(id);
      if (answer === undefined) {
        answer = streams ? streamedAnswer(body.length) : wholeAnswer(body.length);
        answers.set(id, answer);
      }
      response.writeHead(200, {
        'content-type': streams ? 'text/event-stream' : 'application/json',
        'content-length': answer.length,
      });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`);
  });
}

if (process.argv[1]?.endsWith('upstream.ts') === true) serve();
