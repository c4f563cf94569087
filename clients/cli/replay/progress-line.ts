import { count } from '../format.ts';
import type { Terminal } from '../terminal.ts';

/** Notes and progress of a replay on standard error: one moving line on a terminal, else a line now and then. */
export interface ProgressLine {
  note(text: string): void;
  /** Requests done, each counted for every run. */
  progress(done: number): void;
  /** Takes the moving line away. */
  end(): void;
}

const LINE_INTERVAL_MS = 5_000;
const ERASE = '\r\u001b[K';

export function replayLineOn(terminal: Terminal): ProgressLine {
  const moves = terminal.isInteractive === true;
  const startedAtMs = performance.now();
  let shownAtMs = startedAtMs;
  const erase = (): void => {
    if (moves) terminal.err(ERASE);
  };
  return {
    note(text) {
      erase();
      terminal.err(`${text}\n`);
    },
    progress(done) {
      const nowMs = performance.now();
      if (!moves && nowMs - shownAtMs < LINE_INTERVAL_MS) return;
      shownAtMs = nowMs;
      const seconds = (nowMs - startedAtMs) / 1_000;
      const text = `replayed ${count(done)} requests through policies, ${count(done / seconds)}/s`;
      terminal.err(moves ? `${ERASE}${text}` : `${text}\n`);
    },
    end: erase,
  };
}
