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

export interface ProcessTerminal extends Terminal {
  /** True once results could not be written, which `err` has been told. */
  readonly hasFailed: boolean;
}

/** The process's own streams; a reader that goes away early (`| head`) is no error. */
export function processTerminal(): ProcessTerminal {
  let hasFailed = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A stream that broke once fails each later write too.
    if (error.code === 'EPIPE' || hasFailed) return;
    hasFailed = true;
    process.stderr.write(`reprise: data_invalid: Standard output can't be written (${error.code ?? error.message}).\n`);
  });
  // Nobody is left who could be told.
  process.stderr.on('error', () => undefined);
  return {
    get hasFailed() {
      return hasFailed;
    },
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
