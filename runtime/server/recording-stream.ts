import type { FastifyRequest } from 'fastify';
import { exchangeOf } from '../../clients/gateway/index.ts';
import type { Edge } from '../../clients/gateway/index.ts';
import type { Recording } from '../ports/recording.ts';

/** What an admin action gives that has answered by itself. */
export const STREAMED = Symbol('streamed');

/** An empty line now and then keeps a quiet connection from being cut; a reader passes it over. */
const QUIET_MS = 20_000;
/** A client that takes nothing for this long has lost interest. */
const STALL_MS = 60_000;

/** Sends a recording for as long as it goes on and the client takes it; either end stops it. */
export function sendRecording(edge: Edge, request: FastifyRequest, recording: Recording): typeof STREAMED {
  const exchange = exchangeOf(request);
  const { target } = exchange;
  target.set('content-type', 'application/jsonl; charset=utf-8');
  target.set('cache-control', 'no-store');
  target.open(200);
  const { raw } = target;
  const quiet = setInterval(() => raw.write('\n'), QUIET_MS);
  let bytes = 0;
  const send = async (): Promise<void> => {
    for await (const lines of recording.lines) {
      if (raw.destroyed) return;
      bytes += Buffer.byteLength(lines);
      if (!raw.write(lines)) await drained(raw);
    }
  };
  raw.once('close', () => recording.stop());
  void send()
    .catch((error: unknown) => void raw.destroy(error instanceof Error ? error : undefined))
    .finally(() => {
      clearInterval(quiet);
      recording.stop();
      raw.end();
      edge.answers.ended(exchange, { status: 200, outcome: '', detail: 'recording', replyBytes: bytes });
    });
  return STREAMED;
}

/** Waits until the socket takes more, has closed, or has stalled, which closes it. */
async function drained(raw: NodeJS.EventEmitter & { destroy(): unknown }): Promise<void> {
  await new Promise<void>((resolve) => {
    const stall = setTimeout(() => raw.destroy(), STALL_MS);
    const done = (): void => {
      clearTimeout(stall);
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.on('drain', done);
    raw.on('close', done);
  });
}
