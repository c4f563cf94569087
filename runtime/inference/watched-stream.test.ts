import { describe, expect, it } from 'vitest';
import { one, watched, type StreamEnd } from './watched-stream.ts';

async function* chunks(count: number, error?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) yield await Promise.resolve(Uint8Array.of(at));
  if (error !== undefined) throw error;
}

async function read(stream: AsyncIterable<Uint8Array>, leaveAfter = Infinity): Promise<number> {
  let count = 0;
  for await (const _chunk of stream) {
    count += 1;
    if (count >= leaveAfter) break;
  }
  return count;
}

describe('a watched stream', () => {
  it('reports its whole end once', async () => {
    const ends: StreamEnd[] = [];
    expect(await read(watched(chunks(3), (end) => ends.push(end)))).toBe(3);
    expect(ends).toEqual(['whole']);
  });

  it('reports a reader that leaves, also before the first chunk', async () => {
    const ends: StreamEnd[] = [];
    await read(
      watched(chunks(3), (end) => ends.push(end)),
      1,
    );
    const unread = watched(chunks(3), (end) => ends.push(end))[Symbol.asyncIterator]();
    await unread.return?.();
    await unread.return?.();
    expect(ends).toEqual(['left', 'left']);
  });

  it('reports what broke it, and passes it on', async () => {
    const ends: StreamEnd[] = [];
    const error = new Error('broken');
    await expect(read(watched(chunks(1, error), (end) => ends.push(end)))).rejects.toBe(error);
    expect(ends).toEqual([{ error }]);
  });

  it('reports the end of a stream of one chunk', async () => {
    const ends: StreamEnd[] = [];
    expect(await read(watched(one(Uint8Array.of(1)), (end) => ends.push(end)))).toBe(1);
    expect(ends).toEqual(['whole']);
  });
});
