import type { Terminal } from './terminal.ts';

/** Told of each step of something long. */
export type Progress = (done: number, total: number) => void;

const LINE_INTERVAL_MS = 5_000;
const MOVE_INTERVAL_MS = 100;

/** Progress on standard error: one moving line on a terminal, else a line now and then. */
export function progressOn(terminal: Terminal, what: string): Progress {
  const moves = terminal.isInteractive === true;
  let shownAtMs: number | undefined = moves ? -Infinity : undefined;
  return (done, total) => {
    const nowMs = performance.now();
    // What is done before a first line is due needs none.
    shownAtMs ??= nowMs;
    const isLast = done >= total;
    if (nowMs - shownAtMs < (moves ? MOVE_INTERVAL_MS : LINE_INTERVAL_MS) && !(isLast && moves)) return;
    shownAtMs = nowMs;
    const text = `${what} ${done} of ${total}`;
    terminal.err(moves ? `\r\u001b[K${isLast ? '' : text}` : `${text}\n`);
  };
}
