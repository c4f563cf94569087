import { DEMO_UPSTREAM, type Config, type UpstreamConfig } from '../../../runtime/config/index.ts';
import { parseUpstreamUrl } from '../../../runtime/models/upstream-url.ts';
import type { Finding } from './finding.ts';
import { httpGet } from '../http-get.ts';

const TIMEOUT_MS = 10_000;

/** Whether each upstream answers and takes its credential: asks it for its models, which costs nothing. */
export async function upstreamFindings(config: Config, timeoutMs: number = TIMEOUT_MS): Promise<Finding[]> {
  const upstreams = Object.values(config.upstreams);
  if (upstreams.length > 0) return await Promise.all(upstreams.map((upstream) => upstreamFinding(upstream, timeoutMs)));
  const name = 'upstream';
  if (config.defaultUpstream === DEMO_UPSTREAM) {
    return [{ name, state: 'info', detail: 'the built-in demo model; REPRISE_UPSTREAM_URL names a real one' }];
  }
  return [{ name, state: 'fail', detail: 'none', advice: 'Set REPRISE_UPSTREAM_URL, or upstreams in reprise.yaml.' }];
}

async function upstreamFinding(upstream: UpstreamConfig, timeoutMs: number): Promise<Finding> {
  const name = `upstream ${upstream.name}`;
  const { origin, modelsPath } = parseUpstreamUrl(upstream.url);
  try {
    const { status } = await httpGet(`${origin}${modelsPath}`, { headers: credentialHeaders(upstream), timeoutMs });
    return { name, ...judged(upstream, status) };
  } catch (error) {
    const advice = `Check upstreams.${upstream.name}.url, the network, and that the server runs.`;
    return { name, state: 'fail', detail: `${upstream.url} doesn't answer (${reasonOf(error)})`, advice };
  }
}

function judged({ name, url, auth, apiKey }: UpstreamConfig, status: number): Omit<Finding, 'name'> {
  if (status >= 200 && status < 300) return { state: 'ok', detail: `${url} lists its models` };
  if (status === 401 || status === 403) {
    if (auth === 'forward') return { state: 'ok', detail: `${url} asks for the caller's credential` };
    const advice =
      apiKey === undefined
        ? `Set REPRISE_UPSTREAM_KEY, or upstreams.${name}.apiKeyEnv.`
        : 'Check the key: it may be mistyped, revoked or for another account.';
    return { state: 'fail', detail: `${url} refuses the credential (${status})`, advice };
  }
  const advice = 'Check the path of the URL; some servers have no list of models and work all the same.';
  return { state: 'warn', detail: `${url} answers ${status} when asked for its models`, advice };
}

function credentialHeaders({ auth, apiKey, header }: UpstreamConfig): Record<string, string> {
  if (auth === 'forward' || apiKey === undefined) return {};
  return { [header]: header === 'authorization' ? `Bearer ${apiKey.reveal()}` : apiKey.reveal() };
}

function reasonOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  return name === 'TimeoutError' ? 'no answer in time' : (code ?? message);
}
