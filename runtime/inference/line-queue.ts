/** Lines on their way to one reader: bounded, and never waited for by whoever adds. */
export class LineQueue {
  readonly #charactersMax: number;
  #lines: string[] = [];
  #characters = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(options: { readonly charactersMax: number }) {
    this.#charactersMax = options.charactersMax;
  }

  /** Of the lines that wait to be taken. */
  get characters(): number {
    return this.#characters;
  }

  /** False where there is no room. */
  add(line: string): boolean {
    if (this.#isEnded || this.#characters + line.length > this.#charactersMax) return false;
    this.#lines.push(line);
    this.#characters += line.length;
    this.#wakeReader();
    return true;
  }

  /** What is left is still read. */
  end(): void {
    this.#isEnded = true;
    this.#wakeReader();
  }

  /** All that waits, together, as soon as there is anything. */
  async *lines(): AsyncGenerator<string> {
    for (;;) {
      if (this.#lines.length > 0) {
        const lines = this.#lines;
        this.#lines = [];
        this.#characters = 0;
        yield lines.join('');
      } else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
