/** What a command reads and writes: results to `out`, progress and warnings to `err`. */
export interface Terminal {
  out(text: string | Uint8Array): void;
  err(text: string): void;
  /** All of standard input. */
  stdin(): Promise<Uint8Array>;
  /** True when `err` is a screen whose last line can be written over. */
  readonly isInteractive?: boolean;
  /** Single keys as a person presses them, or the characters of a pipe; ctrl-C is `\\u0003`. */
  keys(): AsyncIterable<string>;
}

/** The process's own streams; a reader that goes away early (`| head`) is no error. */
export function processTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isInteractive: process.stderr.isTTY,
    async stdin() {
      const parts: Buffer[] = [];
      for await (const part of process.stdin) parts.push(Buffer.from(part as Uint8Array));
      return Buffer.concat(parts);
    },
    keys: () => keysOf(process.stdin),
  };
}

async function* keysOf(input: NodeJS.ReadStream): AsyncGenerator<string> {
  const isRaw = input.isTTY && !input.isRaw;
  if (isRaw) input.setRawMode(true);
  input.setEncoding('utf8');
  try {
    for await (const text of input) yield* String(text);
  } finally {
    if (isRaw) input.setRawMode(false);
    input.pause();
  }
}

/** One JSON document and a line break. */
export function jsonDocument(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
