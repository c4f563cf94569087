import { request } from 'undici';

/** An answer as far as `doctor` looks at it. */
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
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes > BODY_BYTES_MAX) return { status: statusCode, json: undefined };
  }
  return { status: statusCode, json: parsed(Buffer.concat(parts).toString('utf8')) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
