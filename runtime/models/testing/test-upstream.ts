import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Counter, Gauge, Histogram, Telemetry } from '../../ports/telemetry.ts';
import { DEFAULT_OPENAI_HTTP_OPTIONS, OpenAiHttpModel } from '../openai-http.ts';
import type { OpenAiHttpOptions } from '../openai-http.ts';
import type { ManualClock } from './manual-clock.ts';

/** What a test upstream was asked. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Which connection it came by, from 1. */
  readonly connection: number;
}

/** A real HTTP server on loopback that answers as a test says. */
export interface TestUpstream {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
  readonly close: () => Promise<void>;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export async function startUpstream(answer: Answer): Promise<TestUpstream> {
  const seen: SeenRequest[] = [];
  const connections = new WeakMap<object, number>();
  let connectionCount = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const record: SeenRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        connection: connections.get(request.socket) ?? 0,
      };
      seen.push(record);
      void answer(record, response);
    });
  });
  server.on('connection', (socket) => {
    connectionCount += 1;
    connections.set(socket, connectionCount);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function respondJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}

export function startEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** A model on an upstream, with a clock that only the test moves. */
export function modelOf(url: string, clock: ManualClock, options: Partial<OpenAiHttpOptions> = {}): OpenAiHttpModel {
  const defaults = { ...DEFAULT_OPENAI_HTTP_OPTIONS, retryDelayMs: 0, name: 'test', url };
  return new OpenAiHttpModel({ clock, telemetry: new SilentTelemetry() }, { ...defaults, ...options });
}

/** Telemetry that keeps gauges only. */
export class SilentTelemetry implements Telemetry {
  readonly gauges = new Map<string, number>();

  counter(): Counter {
    return { add: () => {} };
  }

  gauge(name: string): Gauge {
    return { set: (value) => void this.gauges.set(name, value) };
  }

  histogram(): Histogram {
    return { observe: () => {} };
  }

  log(): void {}
}

/** A promise and its resolver: an event that a test waits for. */
export function signalled<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

export async function collect(events: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of events) texts.push(Buffer.from(event).toString());
  return texts;
}
