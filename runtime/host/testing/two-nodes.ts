import { performance } from 'node:perf_hooks';
import type { TestCluster } from '../../../grid/hazelcast/testing/cluster.ts';
import type { SettingsInput } from '../../config/index.ts';
import type { AssemblyOverrides } from '../assembly.ts';
import {
  answerWith,
  says,
  startScriptedUpstream,
  type CallAnswer,
  type ScriptedUpstream,
} from './scripted-upstream.ts';
import { startTestServer, type TestReply, type TestServer } from './test-server.ts';

const CHAT = '/v1/chat/completions';
const POLL_MS = 5;

/** Two nodes on one cluster, before one upstream that counts its calls. */
export interface TwoNodes {
  readonly upstream: ScriptedUpstream;
  readonly nodes: readonly [TestServer, TestServer];
  close(): Promise<void>;
}

/** Settings of a node on a cluster. */
export function onCluster({ addresses, clusterName }: Pick<TestCluster, 'addresses' | 'clusterName'>): SettingsInput {
  const hazelcast = { members: [...addresses], clusterName };
  // A busy machine must not turn a look-up into a bypass.
  return { grid: { kind: 'hazelcast', hazelcast }, cache: { lookupBudgetMs: 10_000 } };
}

export async function twoNodes(
  cluster: Pick<TestCluster, 'addresses' | 'clusterName'>,
  {
    settings = {},
    overrides = { embedder: { missing: 'not in this test' } },
    answer = answerWith((call) => says(`Answer ${call.number}.`)),
  }: {
    readonly settings?: SettingsInput;
    readonly overrides?: AssemblyOverrides;
    readonly answer?: CallAnswer;
  } = {},
): Promise<TwoNodes> {
  const upstream = await startScriptedUpstream(answer);
  const start = (nodeId: string): Promise<TestServer> =>
    startTestServer(
      { nodeId, upstreams: { test: { url: upstream.url } }, ...onCluster(cluster), ...settings },
      overrides,
    );
  const nodes = [await start('node-1'), await start('node-2')] as const;
  for (const node of nodes) await until(() => isReady(node, 'ledger'));
  return {
    upstream,
    nodes: [...nodes],
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await upstream.close();
    },
  };
}

/** A question of a text; further headers as given. */
export async function ask(node: TestServer, text: string, headers: Record<string, string> = {}): Promise<TestReply> {
  return node.post(
    CHAT,
    { model: 'gpt-test', temperature: 0, messages: [{ role: 'user', content: text }] },
    { headers },
  );
}

/** What the cache alone has: 504 when it has nothing. */
export function peek(node: TestServer, text: string, headers: Record<string, string> = {}): Promise<TestReply> {
  return ask(node, text, { ...headers, 'cache-control': 'only-if-cached' });
}

/** Milliseconds until a condition holds; fails past the limit. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs = 30_000): Promise<number> {
  const startedAtMs = performance.now();
  for (;;) {
    if (await condition()) return performance.now() - startedAtMs;
    const tookMs = performance.now() - startedAtMs;
    if (tookMs > limitMs) throw new Error(`did not come true within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Whether a part of `/readyz` is ready. */
export async function isReady(node: TestServer, part: string): Promise<boolean> {
  const { parts } = (await node.get('/readyz')).json<{ parts: { name: string; state: string }[] }>();
  return parts.find(({ name }) => name === part)?.state === 'ready';
}
