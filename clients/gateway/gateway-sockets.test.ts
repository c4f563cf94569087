import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import Fastify from 'fastify';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { ModelError } from '../../runtime/errors.ts';
import { FakeService, MISS_STATUS, READER, eventOf, hitStatus, jsonReply, streamReply } from './fake-service.ts';
import type { GatewayOptions, RequestRecord } from './index.ts';
import { DirectEdge, repriseGateway } from './index.ts';

const cleanups: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A promise that a test settles. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

interface Harness {
  readonly service: FakeService;
  readonly port: number;
  readonly internalErrors: unknown[];
  /** The next record. */
  readonly nextRecord: () => Promise<RequestRecord>;
}

type EdgeKind = 'plugin' | 'direct';
type OnConnection = (socket: Socket) => void;

/** The two ways to serve the inference routes; every test here runs on both. */
const EDGES: Readonly<Record<EdgeKind, (options: GatewayOptions, onConnection: OnConnection) => Promise<number>>> = {
  plugin: async (options, onConnection) => {
    const app = Fastify({ forceCloseConnections: true });
    app.server.on('connection', onConnection);
    void app.register(repriseGateway, options);
    await app.listen({ host: '127.0.0.1', port: 0 });
    cleanups.push(() => app.close());
    return (app.server.address() as AddressInfo).port;
  },
  direct: async (options, onConnection) => {
    const direct = new DirectEdge(options, () => 'id-1');
    const server = createServer((request, response) => {
      if (direct.handle(request, response)) return;
      response.writeHead(418);
      response.end();
    });
    server.on('connection', onConnection);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as AddressInfo).port;
  },
};

let edge: EdgeKind;

async function listen({
  onConnection = () => undefined,
  ...changes
}: Partial<GatewayOptions> & { readonly onConnection?: OnConnection } = {}): Promise<Harness> {
  const service = new FakeService();
  const internalErrors: unknown[] = [];
  const waiting: ((record: RequestRecord) => void)[] = [];
  const options: GatewayOptions = {
    service,
    resolveIdentity: () => READER,
    onRequestDone: (record) => waiting.shift()?.(record),
    onInternalError: (error) => internalErrors.push(error),
    ...changes,
  };
  const port = await EDGES[edge](options, onConnection);
  return { service, port, internalErrors, nextRecord: () => new Promise((resolve) => waiting.push(resolve)) };
}

/** A source of events that a test feeds by hand and that tells what was asked of it. */
class ManualSource implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly left = deferred<void>();
  pulls = 0;
  #waiting: ((item: IteratorResult<Uint8Array>) => void) | undefined;
  #onPull: (() => void) | undefined;

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    this.pulls += 1;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#onPull?.();
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.left.resolve();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Waits until the next chunk is asked for, then gives it. */
  async give(chunk: Uint8Array | undefined): Promise<void> {
    if (this.#waiting === undefined) await new Promise<void>((resolve) => (this.#onPull = resolve));
    const settle = this.#waiting;
    this.#waiting = undefined;
    settle?.(chunk === undefined ? { done: true, value: undefined } : { done: false, value: chunk });
  }
}

const STREAM_BODY = '{"stream":true}';

function post(port: number, body = STREAM_BODY): ClientRequest {
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  });
  cleanups.push(() => void request.destroy());
  request.on('error', () => undefined);
  request.end(body);
  return request;
}

async function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  return text;
}

describe.each<EdgeKind>(['plugin', 'direct'])('by %s:', (kind) => {
  beforeAll(() => {
    edge = kind;
  });

  describe('a live stream', () => {
    it('sends its head with the first event and each event as it comes', async () => {
      const { service, port } = await listen();
      const source = new ManualSource();
      service.onStream = async () => streamReply(source);
      const request = post(port);

      await source.give(eventOf({ n: 1 }));
      const response = await responseOf(request);
      const [first] = (await once(response, 'data')) as [Buffer];
      await source.give(eventOf({ n: 2 }));
      const [second] = (await once(response, 'data')) as [Buffer];
      await source.give(undefined);
      const [last] = (await once(response, 'data')) as [Buffer];

      expect(response.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-status': 'reprise; fwd=miss; stored',
        'x-accel-buffering': 'no',
      });
      expect([first, second, last].map(String)).toEqual(['data: {"n":1}\n\n', 'data: {"n":2}\n\n', 'data: [DONE]\n\n']);
    });

    it('without an event ends at once', async () => {
      const { service, port } = await listen();
      const source = new ManualSource();
      service.onStream = async () => streamReply(source);
      const request = post(port);

      await source.give(undefined);

      expect(await textOf(await responseOf(request))).toBe('data: [DONE]\n\n');
    });

    it('that breaks ends with an error event and no [DONE]', async () => {
      const { service, port, nextRecord } = await listen();
      service.onStream = async () =>
        streamReply(
          (async function* () {
            yield eventOf({ n: 1 });
            throw new ModelError('model_stream_truncated', 'The model stopped early.');
          })(),
        );
      const record = nextRecord();

      const text = await textOf(await responseOf(post(port)));

      expect(text).toBe(
        'data: {"n":1}\n\ndata: {"error":{"message":"The model stopped early.","type":"upstream_error","param":null,"code":"model_stream_truncated"}}\n\n',
      );
      expect(await record).toMatchObject({ outcome: 'error', detail: 'model_stream_truncated' });
    });

    it('is left when its client goes away while the source waits', async () => {
      const { service, port, nextRecord } = await listen();
      const source = new ManualSource();
      const aborted = deferred<void>();
      service.onStream = async ({ signal }) => {
        signal.addEventListener('abort', () => aborted.resolve());
        return streamReply(source);
      };
      const record = nextRecord();
      const request = post(port);
      await source.give(eventOf({ n: 1 }));
      await responseOf(request);

      request.destroy();

      await source.left.promise;
      await aborted.promise;
      expect(await record).toMatchObject({ status: 499, outcome: 'cancelled' });
    });

    it('that comes after its client went away is left', async () => {
      const { service, port } = await listen();
      const source = new ManualSource();
      const asked = deferred<AbortSignal>();
      const answer = deferred<void>();
      service.onStream = async ({ signal }) => {
        asked.resolve(signal);
        await answer.promise;
        return streamReply(source);
      };
      const request = post(port);
      const signal = await asked.promise;
      const aborted = once(signal, 'abort');
      request.destroy();
      await aborted;

      answer.resolve();

      await source.left.promise;
      expect(source.pulls).toBe(0);
    });

    it('waits for a slow client and goes on when it reads', async () => {
      const { service, port } = await listen();
      const source = new ManualSource();
      service.onStream = async () => streamReply(source);
      const large = eventOf('x'.repeat(24_000_000));
      const request = post(port);
      await source.give(large);
      const response = await responseOf(request);
      response.pause();
      await textOf(await responseOf(post(port, '{}')));
      const pullsWhilePaused = source.pulls;

      let bytes = 0;
      response.on('data', (data: Buffer) => (bytes += data.length));
      response.resume();
      await source.give(undefined);
      await once(response, 'end');

      expect(pullsWhilePaused).toBe(1);
      expect(bytes).toBe(large.length + 'data: [DONE]\n\n'.length);
    });

    it('is cut when its client takes nothing for too long', async () => {
      const { service, port, nextRecord } = await listen({ stallMs: 20 });
      const chunk = eventOf('x'.repeat(1_000_000));
      const left = deferred<void>();
      service.onStream = async () =>
        streamReply(
          (async function* () {
            try {
              for (;;) yield chunk;
            } finally {
              left.resolve();
            }
          })(),
        );
      const record = nextRecord();
      const response = await responseOf(post(port));
      response.pause();

      await left.promise;

      expect(await record).toMatchObject({ outcome: 'cancelled' });
    });

    it('of a large stored answer arrives whole', async () => {
      const { service, port } = await listen();
      const events = Array.from({ length: 40 }, (_, n) => eventOf({ n, text: 'y'.repeat(10_000) }));
      service.onStream = async () =>
        streamReply(
          (async function* () {
            yield* events;
          })(),
          hitStatus(),
        );

      const text = await textOf(await responseOf(post(port)));

      expect(text).toBe(`${Buffer.concat(events).toString()}data: [DONE]\n\n`);
    });

    it('keeps its connection for the next request', async () => {
      const { service, port } = await listen();
      service.onStream = async () =>
        streamReply(
          (async function* () {
            yield eventOf({ n: 1 });
          })(),
          MISS_STATUS,
        );
      const socket = connect(port, '127.0.0.1');
      cleanups.push(() => void socket.destroy());
      const text = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${STREAM_BODY.length}\r\n\r\n${STREAM_BODY}`;

      socket.write(text + text);
      let received = '';
      for await (const data of socket.setEncoding('utf8')) {
        received += data as string;
        if (received.split('[DONE]').length > 2) break;
      }

      expect(received.split('HTTP/1.1 200 OK')).toHaveLength(3);
    });
  });

  describe('a whole answer', () => {
    it.each([
      ['ASCII', 'a'.repeat(2_000)],
      ['of several bytes a character', 'ÿ€漢🙂'.repeat(300)],
      ['larger than one write', 'é'.repeat(40_000)],
      ['empty', ''],
    ])('%s, arrives byte for byte', async (_, text) => {
      const { service, port } = await listen();
      service.onInfer = async () => jsonReply({ text });
      const response = await responseOf(post(port, '{}'));
      expect(await textOf(response)).toBe(JSON.stringify({ text }));
      expect(response.headers['content-length']).toBe(String(Buffer.byteLength(JSON.stringify({ text }))));
    });

    it('of any bytes arrives as it is', async () => {
      const { service, port } = await listen();
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), async (bytes) => {
          service.onInfer = async () => ({ ...jsonReply({}), body: bytes });
          const response = await responseOf(post(port, '{}'));
          const received: Buffer[] = [];
          for await (const part of response) received.push(part as Buffer);
          expect(Buffer.concat(received)).toEqual(Buffer.from(bytes));
        }),
        { numRuns: 40 },
      );
    });

    it('aborts the signal when the client goes away first', async () => {
      const { service, port, nextRecord } = await listen();
      const asked = deferred<AbortSignal>();
      service.onInfer = ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          asked.resolve(signal);
        });
      const record = nextRecord();
      const request = post(port, '{}');
      await asked.promise;

      request.destroy();

      expect(await record).toMatchObject({ status: 499, outcome: 'cancelled' });
    });

    it('aborts no signal once it is sent', async () => {
      const { service, port } = await listen();

      await textOf(await responseOf(post(port, '{}')));

      expect(service.requests[0]?.signal.aborted).toBe(false);
    });

    it('that can’t be sent is a bug, and the client is told so', async () => {
      const { service, port, internalErrors } = await listen();
      service.onInfer = async () => jsonReply({}, hitStatus({ entryId: 'a\r\nx: y' }));

      const response = await responseOf(post(port, '{}'));

      expect(response.statusCode).toBe(500);
      expect(await textOf(response)).toContain('"code":"internal"');
      expect(internalErrors).toHaveLength(1);
    });
  });

  describe('an upload', () => {
    it('that is cut asks nothing of the service', async () => {
      const { service, port, nextRecord } = await listen();
      const record = nextRecord();
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a"',
        () => socket.resetAndDestroy(),
      );

      expect(await record).toMatchObject({ status: 499, outcome: 'cancelled' });
      expect(service.requests).toHaveLength(0);
    });

    it('whose client goes away before it is known who asks ends all the same', async () => {
      const asked = deferred<void>();
      const closed = deferred<void>();
      const { service, port, nextRecord } = await listen({
        resolveIdentity: async () => {
          asked.resolve();
          await closed.promise;
          return READER;
        },
        onConnection: (socket) => socket.once('close', () => closed.resolve()),
      });
      const record = nextRecord();
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a"',
      );
      await asked.promise;
      socket.resetAndDestroy();

      expect(await record).toMatchObject({ status: 499, outcome: 'cancelled' });
      expect(service.requests).toHaveLength(0);
    });

    it('in many pieces arrives whole', async () => {
      const { service, port } = await listen();
      const pieces = Array.from({ length: 20 }, (_, n) => `"${n}":${'1'.repeat(40_000)},`);
      const request = httpRequest({
        host: '127.0.0.1',
        port,
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      });
      for (const piece of pieces) request.write(piece);
      request.end();

      await textOf(await responseOf(request));

      expect(Buffer.from(service.requests[0]?.body ?? []).toString()).toBe(pieces.join(''));
    });

    it('above the limit is read to its end, refused, and the connection serves on', async () => {
      const { port } = await listen({ bodyBytesMax: 100_000 });
      const body = 'x'.repeat(400_000);
      const socket = connect(port, '127.0.0.1');
      cleanups.push(() => void socket.destroy());
      const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

      socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}${head}content-length: 2\r\n\r\n{}`);
      let received = '';
      for await (const data of socket.setEncoding('utf8')) {
        received += data as string;
        if (received.includes('{"ok":true}')) break;
      }

      expect(received).toMatch(/^HTTP\/1.1 413 .*body_too_large.*HTTP\/1.1 200 /s);
    });

    it('that never ends is cut off', async () => {
      const { port } = await listen({ bodyBytesMax: 10_000 });
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(
        'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
      );
      const piece = `2000\r\n${'x'.repeat(0x2000)}\r\n`;
      const push = (): void => {
        while (!socket.destroyed && socket.write(piece));
        if (!socket.destroyed) socket.once('drain', push);
      };
      push();
      socket.resume();

      await closed;

      expect(socket.destroyed).toBe(true);
    });
  });
});
