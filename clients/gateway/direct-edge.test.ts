import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { RepriseError } from '../../runtime/errors.ts';
import { FakeService, READER } from './fake-service.ts';
import { DirectEdge } from './index.ts';
import type { GatewayOptions } from './index.ts';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A server whose other requests answer 418. */
async function listen(changes: Partial<GatewayOptions> = {}): Promise<{ service: FakeService; port: number }> {
  const service = new FakeService();
  const direct = new DirectEdge({ service, resolveIdentity: () => READER, ...changes }, () => 'id-1');
  const server = createServer((request, response) => {
    if (!direct.handle(request, response)) response.writeHead(418).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { service, port: (server.address() as AddressInfo).port };
}

/** Sends text as it is and reads until the server closes. */
async function speak(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let heard = '';
  for await (const part of socket) heard += String(part);
  return heard;
}

function ask(port: number, path: string, init: RequestInit): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, init);
}

const JSON_HEADERS = { 'content-type': 'application/json' };

describe('the direct edge', () => {
  it.each([
    ['another method', '/v1/chat/completions', 'GET'],
    ['another path', '/v1/models', 'POST'],
    ['a path with a query', '/v1/chat/completions?a=1', 'POST'],
  ])('leaves %s to whoever comes next', async (_, path, method) => {
    const { service, port } = await listen();
    const reply = await ask(port, path, { method, headers: JSON_HEADERS, ...(method === 'POST' && { body: '{}' }) });
    expect(reply.status).toBe(418);
    expect(service.requests).toEqual([]);
  });

  it.each(['/v1/chat/completions', '/v1/completions', '/v1/embeddings'])('serves %s', async (path) => {
    const { port } = await listen();
    const reply = await ask(port, path, { method: 'POST', headers: JSON_HEADERS, body: '{}' });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-request-id')).toBe('id-1');
    expect(await reply.json()).toEqual({ ok: true });
  });

  it.each([
    ['no body', 'content-length: 0\r\n'],
    ['no length and no body', ''],
  ])('refuses %s as empty', async (_, lengthLine) => {
    const { port } = await listen();
    const heard = await speak(
      port,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${lengthLine}connection: close\r\n\r\n`,
    );
    expect(heard).toMatch(/^HTTP\/1\.1 400 /);
    expect(heard).toContain('"code":"empty_body"');
  });

  const nobody = (): never => {
    throw new RepriseError('missing_credential', 'Send a key.');
  };

  it.each([
    ['large', 'content-length: 100000'],
    ['endless', 'transfer-encoding: chunked'],
  ])('closes the connection behind a refusal that left a %s upload unread', async (_, lengthLine) => {
    const { port } = await listen({ resolveIdentity: nobody });
    const heard = await speak(
      port,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${lengthLine}\r\n\r\n2\r\n{"`,
    );
    expect(heard).toMatch(/^HTTP\/1\.1 401 /);
    expect(heard.toLowerCase()).toContain('connection: close');
  });

  it('keeps the connection behind a refusal of a small request', async () => {
    const { port } = await listen({ resolveIdentity: nobody });
    const one = 'POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n';
    const heard = await speak(port, `${one}\r\n{}${one}connection: close\r\n\r\n{}`);
    expect(heard.match(/HTTP\/1\.1 401 /g)).toHaveLength(2);
  });

  it('answers requests that came together one after the other', async () => {
    const { port } = await listen();
    const one = 'POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n';
    const heard = await speak(port, `${one}\r\n{}${one}connection: close\r\n\r\n{}`);
    expect(heard.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });
});
