import { request } from 'undici';

/** An answer as far as the CLI looks at it. */
export interface HttpAnswer {
  readonly status: number;
  /** Parsed; undefined when the body is no JSON, or too long to be ours. */
  readonly json: unknown;
}

const BODY_BYTES_MAX = 65_536;

/** Asks by GET. Not by `fetch`, which refuses ports that servers may well have. */
export async function httpGet(
  url: string,
  { headers = {}, timeoutMs }: { headers?: Record<string, string>; timeoutMs: number },
): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { statusCode, body } = await request(url, { headers, signal });
  return { status: statusCode, json: await jsonOf(body) };
}

/** The JSON of a body; undefined when it is none, or too long to be ours. */
export async function jsonOf(body: AsyncIterable<Buffer>): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    return undefined;
  }
}
