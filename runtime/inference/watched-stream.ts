/** How a streamed reply ended: to its end, left by its reader, or broken. */
export type StreamEnd = 'whole' | 'left' | { readonly error: unknown };

/** `chunks`, reporting its end exactly once, also when its reader leaves before the first chunk. Can be read once. */
export function watched(chunks: AsyncIterable<Uint8Array>, onEnd: (end: StreamEnd) => void): AsyncIterable<Uint8Array> {
  let ended = false;
  const end = (how: StreamEnd): void => {
    if (ended) return;
    ended = true;
    onEnd(how);
  };
  const inner = chunks[Symbol.asyncIterator]();
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        const result = await inner.next();
        if (result.done === true) end('whole');
        return result;
      } catch (error) {
        end({ error });
        throw error;
      }
    },
    async return() {
      end('left');
      await inner.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** A stream of one chunk that is there already. */
export function one(chunk: Uint8Array): AsyncIterable<Uint8Array> {
  let read = false;
  const iterator: AsyncIterator<Uint8Array> = {
    next() {
      if (read) return Promise.resolve({ done: true, value: undefined });
      read = true;
      return Promise.resolve({ done: false, value: chunk });
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
