import type { BodyKind } from './bodies.ts';

/** A server under load. `memo`, `no-memo`, `unique` and `grid` are Reprise; `grid-echo` fetches its answer from the grid, as `grid` does. */
export type ServerName = 'node-http' | 'fastify' | 'grpc-js' | 'grid-echo' | 'memo' | 'no-memo' | 'unique' | 'grid';

/** One way of asking a server. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly server: ServerName;
  readonly protocol: 'http' | 'grpc';
  readonly bodies: BodyKind;
  readonly order: 'random' | 'unique';
  readonly headers?: Readonly<Record<string, string>>;
  /** The scenario that it is compared with. */
  readonly against?: string;
  /** What the cache must have done with every request. */
  readonly outcome?: 'hit' | 'miss' | 'bypass';
}

const http = { protocol: 'http', bodies: 'whole', order: 'random' } as const;
const grpc = { protocol: 'grpc', bodies: 'whole', order: 'random' } as const;
const stream = { protocol: 'http', bodies: 'stream', order: 'random' } as const;
const unique = { protocol: 'http', bodies: 'whole', order: 'unique', server: 'unique' } as const;

/** Everything that is measured, in the order of a round. */
export const SCENARIOS: readonly Scenario[] = [
  { id: 'node-http', title: '`node:http` echo', server: 'node-http', ...http },
  { id: 'fastify', title: 'Fastify echo', server: 'fastify', ...http },
  { id: 'http', title: 'exact hit, HTTP', server: 'memo', ...http, against: 'fastify', outcome: 'hit' },
  {
    id: 'http-no-memo',
    title: 'exact hit, HTTP, no body memo',
    server: 'no-memo',
    ...http,
    against: 'fastify',
    outcome: 'hit',
  },
  { id: 'stream', title: 'exact hit, HTTP stream', server: 'memo', ...stream, against: 'fastify', outcome: 'hit' },
  {
    id: 'stream-no-memo',
    title: 'exact hit, HTTP stream, no body memo',
    server: 'no-memo',
    ...stream,
    against: 'fastify',
    outcome: 'hit',
  },
  { id: 'grpc-js', title: 'grpc-js echo', server: 'grpc-js', ...grpc },
  { id: 'grpc', title: 'exact hit, gRPC', server: 'memo', ...grpc, against: 'grpc-js', outcome: 'hit' },
  {
    id: 'grpc-no-memo',
    title: 'exact hit, gRPC, no body memo',
    server: 'no-memo',
    ...grpc,
    against: 'grpc-js',
    outcome: 'hit',
  },
  {
    id: 'unique-off',
    title: 'unique inputs, `no-cache, no-store`',
    ...unique,
    headers: { 'cache-control': 'no-cache, no-store' },
    outcome: 'bypass',
  },
  { id: 'unique-on', title: 'unique inputs, cache on', ...unique, against: 'unique-off', outcome: 'miss' },
  { id: 'grid-echo', title: 'Fastify echo with a `hazelcast-client` get', server: 'grid-echo', ...http },
  { id: 'grid', title: 'exact hit from L2, HTTP', server: 'grid', ...http, against: 'grid-echo', outcome: 'hit' },
];

/** Those whose latency is measured at half the rate of what they are compared with. */
export const PACED: readonly string[] = [
  'fastify',
  'http',
  'http-no-memo',
  'grpc-js',
  'grpc',
  'grpc-no-memo',
  'grid-echo',
  'grid',
];

/** Those that need a Hazelcast member. */
export const ON_GRID: readonly string[] = ['grid-echo', 'grid'];

/** The scenario of a name; it must be there. */
export function scenarioOf(id: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.id === id);
  if (found === undefined) throw new Error(`There is no scenario ${id}.`);
  return found;
}
