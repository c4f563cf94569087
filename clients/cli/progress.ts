import type { Terminal } from './terminal.ts';

/** Told of each step of something long. */
export type Progress = (done: number, total: number) => void;

/** Notes and progress on standard error: one moving line on a terminal, else a line now and then. */
export interface ProgressLine {
  /** A line that stays. */
  note(text: string): void;
  /** Shows how far it is, where it's time to; the text is made only then. */
  progress(text: () => string): void;
  /** Takes the moving line away. */
  end(): void;
}

const LINE_INTERVAL_MS = 5_000;
const MOVE_INTERVAL_MS = 100;
const ERASE = '\r\u001b[K';

export function progressLineOn(terminal: Terminal): ProgressLine {
  const moves = terminal.isInteractive === true;
  let shownAtMs: number | undefined = moves ? -Infinity : undefined;
  const erase = (): void => {
    if (moves) terminal.err(ERASE);
  };
  return {
    note(text) {
      erase();
      terminal.err(`${text}\n`);
    },
    progress(text) {
      const nowMs = performance.now();
      // What is done before a first line is due needs none.
      shownAtMs ??= nowMs;
      if (nowMs - shownAtMs < (moves ? MOVE_INTERVAL_MS : LINE_INTERVAL_MS)) return;
      shownAtMs = nowMs;
      terminal.err(moves ? `${ERASE}${text()}` : `${text()}\n`);
    },
    end: erase,
  };
}

/** Progress of something whose number of steps is known. */
export function progressOn(terminal: Terminal, what: string): Progress {
  const line = progressLineOn(terminal);
  return (done, total) => {
    if (done >= total) line.end();
    if (done < total || terminal.isInteractive !== true) line.progress(() => `${what} ${done} of ${total}`);
  };
}
