import { Client, Metadata, credentials, status as grpcCodes } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeService, READER, eventOf, streamReply } from '../../clients/gateway/fake-service.ts';
import type { RequestRecord } from '../../clients/gateway/index.ts';
import * as wire from '../../proto/gen/reprise/v1/inference_cache.ts';
import { RepriseError } from '../errors.ts';
import { GrpcServer } from './grpc-server.ts';

const SECRET = 'the launch code';
const BODY = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: SECRET }] });
const { infer, inferStream, listModels } = wire.InferenceCacheService;
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server and client whose next record is awaited. */
async function serve(service = new FakeService(), refuses = false) {
  const records: RequestRecord[] = [];
  let onRecord: () => void = () => undefined;
  const server = new GrpcServer({
    service,
    resolveIdentity: () => {
      if (refuses) throw new RepriseError('invalid_credential', 'No.');
      return READER;
    },
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: 4_096,
    onCallDone: (record) => {
      records.push(record);
      onRecord();
    },
  });
  cleanups.push(() => server.close(0));
  const { port } = await server.start();
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  cleanups.push(() => client.close());
  const record = async (): Promise<RequestRecord> => {
    if (records.length === 0) await new Promise<void>((resolve) => (onRecord = resolve));
    return records.shift() as RequestRecord;
  };
  return { client, record };
}

function request(): wire.InferRequest {
  return { ...wire.InferRequest.decode(new Uint8Array(0)), body: Buffer.from(BODY) };
}

function ask(client: Client, metadata = new Metadata()) {
  return client.makeUnaryRequest(
    infer.path,
    infer.requestSerialize,
    infer.responseDeserialize,
    request(),
    metadata,
    () => undefined,
  );
}

describe('the log of calls', () => {
  it('has one record of a hit, without its text', async () => {
    const { client, record } = await serve();
    const metadata = new Metadata();
    metadata.set('x-request-id', 'mine-1');
    ask(client, metadata);
    const logged = await record();
    expect(logged).toMatchObject({
      requestId: 'mine-1',
      method: 'GRPC',
      path: '/reprise.v1.InferenceCache/Infer',
      status: grpcCodes.OK,
      outcome: 'hit',
      detail: 'exact-l1',
      tenant: READER.tenant,
      entry: 'abababababab',
      model: 'demo',
      stream: false,
    });
    expect(logged.bodyBytes).toBeGreaterThan(BODY.length);
    expect(logged.replyBytes).toBeGreaterThan('{"ok":true}'.length);
    expect(JSON.stringify(logged)).not.toContain(SECRET);
  });

  it('says with which code a call failed', async () => {
    const service = new FakeService();
    service.onInfer = () => Promise.reject(new RepriseError('overloaded', 'Full.'));
    const { client, record } = await serve(service);
    ask(client);
    expect(await record()).toMatchObject({
      status: grpcCodes.RESOURCE_EXHAUSTED,
      detail: 'overloaded',
      tenant: READER.tenant,
      entry: '',
    });
  });

  it('has refused callers too', async () => {
    const { client, record } = await serve(new FakeService(), true);
    ask(client);
    expect(await record()).toMatchObject({
      status: grpcCodes.UNAUTHENTICATED,
      outcome: 'refused',
      detail: 'invalid_credential',
      tenant: '',
    });
  });

  it('tells a caller who left from a failure', async () => {
    const service = new FakeService();
    let asked: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (asked = resolve));
    service.onInfer = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new RepriseError('cancelled', 'Gone.')));
        asked();
      });
    const { client, record } = await serve(service);
    const running = ask(client);
    await begun;
    running.cancel();
    expect(await record()).toMatchObject({ status: grpcCodes.CANCELLED, outcome: 'cancelled', detail: 'cancelled' });
  });

  it('counts the bytes of a stream', async () => {
    const service = new FakeService();
    const event = eventOf({ part: 1 });
    service.onStream = () =>
      Promise.resolve(
        streamReply(
          (async function* () {
            yield event;
            yield event;
          })(),
        ),
      );
    const { client, record } = await serve(service);
    const { path, requestSerialize, responseDeserialize } = inferStream;
    client
      .makeServerStreamRequest(path, requestSerialize, responseDeserialize, request())
      .on('error', () => undefined)
      .resume();
    expect(await record()).toMatchObject({
      path: '/reprise.v1.InferenceCache/InferStream',
      status: grpcCodes.OK,
      outcome: 'miss',
      replyBytes: 2 * event.length,
      stream: true,
    });
  });

  it.each(['client leaves', 'stream breaks'])('counts the bytes of a stream until the %s', async (how) => {
    const service = new FakeService();
    const event = eventOf({ part: 1 });
    let breakOff: (error: Error) => void = () => undefined;
    const broken = new Promise<never>((_, reject) => (breakOff = reject));
    broken.catch(() => undefined);
    service.onStream = ({ signal }) => {
      signal.addEventListener('abort', () => breakOff(new RepriseError('cancelled', 'Left.')));
      return Promise.resolve(
        streamReply(
          (async function* () {
            yield event;
            yield event;
            await broken;
          })(),
        ),
      );
    };
    const { client, record } = await serve(service);
    const { path, requestSerialize, responseDeserialize } = inferStream;
    let parts = 0;
    const call = client
      .makeServerStreamRequest(path, requestSerialize, responseDeserialize, request())
      .on('error', () => undefined)
      .on('data', () => {
        parts += 1;
        // The status comes before the events.
        if (parts < 3) return;
        if (how === 'client leaves') call.cancel();
        else breakOff(new RepriseError('draining', 'Over.'));
      });
    expect(await record()).toMatchObject({ replyBytes: 2 * event.length });
  });

  it('knows no outcome of calls that ask for no inference', async () => {
    const { client, record } = await serve();
    const { path, requestSerialize, responseDeserialize } = listModels;
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, () => undefined);
    expect(await record()).toMatchObject({ path: '/reprise.v1.InferenceCache/ListModels', status: 0, outcome: '' });
  });
});
