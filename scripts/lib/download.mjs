import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

const REDIRECTS_MAX = 5;

/**
 * Fetches a file over HTTP into `path`: through `path` + a suffix, then renamed, so that `path` is whole or absent. Throws an
 * Error with a reason for people; then nothing is left behind.
 *
 * @param {string} url
 * @param {string} path
 * @param {{ sha256?: string, bytesMax: number, stallMs?: number, totalMs?: number, signal?: AbortSignal,
 *   onProgress?: (bytes: number, total: number | undefined) => void }} options
 * @returns {Promise<{ sha256: string, bytes: number }>}
 */
export async function download(url, path, options) {
  const { stallMs = 20_000, totalMs = 600_000, signal } = options;
  const part = `${path}.${process.pid}.part`;
  const controller = new AbortController();
  const stop = (reason) => controller.abort(new Error(reason));
  const total = setTimeout(() => stop(`no whole file within ${totalMs / 1000} s`), totalMs);
  const onAbort = () => stop('stopped');
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const stall = stallTimer(stallMs, () => stop(`no answer for ${stallMs / 1000} s`));
  try {
    const response = await follow(url, controller.signal, stall);
    const received = await writeBody(response, part, { ...options, signal: controller.signal, stall });
    if (options.sha256 !== undefined && received.sha256 !== options.sha256) {
      throw new Error(`wrong SHA-256: expected ${options.sha256}, got ${received.sha256}`);
    }
    await rename(part, path);
    return received;
  } catch (error) {
    throw new Error(controller.signal.aborted ? controller.signal.reason.message : reasonOf(error), { cause: error });
  } finally {
    stall.stop();
    clearTimeout(total);
    signal?.removeEventListener('abort', onAbort);
    controller.abort(new Error('done'));
    await rm(part, { force: true });
  }
}

/** @param {number} ms @param {() => void} onStall */
function stallTimer(ms, onStall) {
  let timer = setTimeout(onStall, ms);
  return {
    touch() {
      clearTimeout(timer);
      timer = setTimeout(onStall, ms);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

async function follow(first, signal, stall) {
  let url = new URL(first);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await fetch(url, { redirect: 'manual', signal });
    stall.touch();
    if (response.status < 300 || response.status > 399) {
      if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
      return response;
    }
    const location = response.headers.get('location');
    await response.body?.cancel();
    if (location === null) throw new Error(`HTTP ${response.status} without a location`);
    const next = new URL(location, url);
    if (next.protocol !== 'https:' && !(next.protocol === 'http:' && url.protocol === 'http:')) {
      throw new Error(`redirected to ${next.protocol}, which is refused`);
    }
    url = next;
  }
  throw new Error(`more than ${REDIRECTS_MAX} redirects`);
}

async function writeBody(response, part, { bytesMax, signal, stall, onProgress }) {
  const header = response.headers.get('content-length');
  const expected = header === null || response.headers.has('content-encoding') ? undefined : Number(header);
  if (expected !== undefined && expected > bytesMax) throw new Error(`${expected} bytes are more than ${bytesMax}`);
  if (response.body === null) throw new Error('an answer without a body');
  const hash = createHash('sha256');
  const file = await open(part, 'w');
  let bytes = 0;
  try {
    for await (const chunk of response.body) {
      signal.throwIfAborted();
      stall.touch();
      bytes += chunk.length;
      if (bytes > bytesMax) throw new Error(`more than ${bytesMax} bytes`);
      hash.update(chunk);
      await file.write(chunk);
      onProgress?.(bytes, expected);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (expected !== undefined && bytes !== expected) throw new Error(`cut short: ${bytes} of ${expected} bytes`);
  return { sha256: hash.digest('hex'), bytes };
}

function reasonOf(error) {
  const cause = error?.cause;
  const detail = cause?.code ?? cause?.message ?? '';
  if (error?.message === 'terminated' || /other side closed|UND_ERR_SOCKET|UND_ERR_RES_CONTENT/u.test(String(detail))) {
    return `cut short: the connection was closed${detail === '' ? '' : ` (${detail})`}`;
  }
  return detail === '' ? String(error?.message ?? error) : `${error.message} (${detail})`;
}
