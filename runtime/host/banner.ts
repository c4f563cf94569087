import type { Config } from '../config/index.ts';
import { DEMO_UPSTREAM } from '../config/index.ts';
import type { RunningServer } from './run-server.ts';

const QUESTION = 'What is the capital of France?';
const REPHRASED = 'Tell me the capital of France';

const IDENTITY: Readonly<Record<Config['identity']['mode'], string>> = {
  local: 'local: every caller is one tenant; no key is asked for',
  keys: 'keys: a configured key names its tenant',
  forward: "forward: a caller's upstream credential is its tenant",
};

/** What a person reads when the server is up: addresses, what answers, and three ways to try it. */
export function banner(config: Config, server: RunningServer): string {
  const { http, grpc } = server;
  const semantic = server.assembly.node.service.readiness().parts.find((part) => part.name === 'semantic');
  const isDemo = config.defaultUpstream === DEMO_UPSTREAM;
  const upstream = isDemo
    ? 'the built-in demo model (set REPRISE_UPSTREAM_URL to stand in front of a real one)'
    : config.defaultUpstream === ''
      ? `${config.node.models.length} model rules, no default upstream`
      : `${config.defaultUpstream} (${config.upstreams[config.defaultUpstream]?.url ?? ''})`;
  const model = isDemo ? 'demo' : (config.node.models.find((rule) => !rule.match.includes('*'))?.match ?? 'MODEL');
  const key =
    config.identity.mode === 'local'
      ? { header: '', python: '"none"', node: `'none'`, imports: '' }
      : {
          header: ' -H "authorization: Bearer $YOUR_KEY"',
          python: 'os.environ["YOUR_KEY"]',
          node: 'process.env.YOUR_KEY',
          imports: '  import os\n',
        };
  const body = `{"model":"${model}","messages":[{"role":"user","content":"${QUESTION}"}]}`;
  const serves = semantic?.state === 'ready' && semantic.detail.startsWith('serve');
  const tries = serves
    ? `Try it twice, then as "${REPHRASED}"; only the first asks the model (see the cache-status header):`
    : 'Try it twice; only the first asks the model (see the cache-status header):';
  return `
Reprise is serving.
  HTTP      ${http.url}   (OpenAI-compatible; /healthz /readyz /metrics)
  gRPC      ${grpc.host}:${grpc.port}
  model     ${upstream}
  tenants   ${IDENTITY[config.identity.mode]}
  semantic  ${semantic?.detail ?? 'off'}

${tries}
  curl -i ${http.url}/v1/chat/completions -H 'content-type: application/json'${key.header} \\
    -d '${body}'

Python:
${key.imports}  from openai import OpenAI
  client = OpenAI(base_url="${http.url}/v1", api_key=${key.python})
  print(client.chat.completions.create(model="${model}", messages=[{"role": "user", "content": "${QUESTION}"}]).choices[0].message.content)

Node:
  import OpenAI from 'openai';
  const client = new OpenAI({ baseURL: '${http.url}/v1', apiKey: ${key.node} });
  const answer = await client.chat.completions.create({ model: '${model}', messages: [{ role: 'user', content: '${QUESTION}' }] });
  console.log(answer.choices[0].message.content);

Ctrl-C stops it.
`;
}
