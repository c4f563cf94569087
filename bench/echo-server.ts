import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import Fastify from 'fastify';
import { Client } from 'hazelcast-client';
import { InferenceCacheService } from '../proto/gen/reprise/v1/inference_cache.ts';
import type { InferenceCacheServer } from '../proto/gen/reprise/v1/inference_cache.ts';

/** The bare servers that Reprise is measured against: each takes the request apart in the ordinary way of its library, and sends it back. */
type EchoKind = 'node-http' | 'fastify' | 'grpc-js' | 'grid-echo';

const HOST = '127.0.0.1';
const PATH = '/v1/chat/completions';
const KEYS = 64;

function serveNodeHttp(ready: (port: number) => void): void {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      const answer = JSON.stringify(JSON.parse(body.toString()));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 75_000;
  server.listen(0, HOST, () => ready((server.address() as AddressInfo).port));
}

function serveFastify(ready: (port: number) => void): void {
  const app = Fastify({ keepAliveTimeout: 75_000 });
  app.post(PATH, (request, reply) => {
    void reply.send(request.body);
  });
  void app.listen({ host: HOST, port: 0 }).then(() => ready((app.server.address() as AddressInfo).port));
}

/** What a cache on Hazelcast costs at least: one get of as many bytes as the answer has. */
function serveFromGrid(ready: (port: number) => void): void {
  const [address = '', clusterName = ''] = process.argv.slice(3);
  const app = Fastify({ keepAliveTimeout: 75_000 });
  void Client.newHazelcastClient({ clusterName, network: { clusterMembers: [address] } }).then(async (client) => {
    const map = await client.getMap<string, Buffer>('bench');
    let asked = 0;
    app.post(PATH, async (request, reply) => {
      const body = JSON.stringify(request.body);
      asked += 1;
      const key = `${body.length}-${asked % KEYS}`;
      let answer = await map.get(key);
      if (answer === null) {
        answer = Buffer.from(body);
        await map.set(key, answer);
      }
      return reply.header('content-type', 'application/json').send(answer);
    });
    await app.listen({ host: HOST, port: 0 });
    ready((app.server.address() as AddressInfo).port);
  });
}

function serveGrpc(ready: (port: number) => void): void {
  const server = new Server();
  const handlers = {
    infer: (call, callback) => {
      callback(null, { body: call.request.body, status: undefined, usage: undefined, contentType: '' });
    },
  } as Partial<InferenceCacheServer> as InferenceCacheServer;
  server.addService(InferenceCacheService, handlers);
  server.bindAsync(`${HOST}:0`, ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) throw error;
    ready(port);
  });
}

const SERVERS: Readonly<Record<EchoKind, (ready: (port: number) => void) => void>> = {
  'node-http': serveNodeHttp,
  fastify: serveFastify,
  'grpc-js': serveGrpc,
  'grid-echo': serveFromGrid,
};

SERVERS[process.argv[2] as EchoKind]((port) => process.stdout.write(`ready ${port}\n`));
