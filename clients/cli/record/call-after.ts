/** A platform timer fires at once above this. */
const STEP_MS_MAX = 2 ** 31 - 1;

/** Calls back after `ms`, however many; gives what calls it off. */
export function callAfter(ms: number, callback: () => void): () => void {
  let leftMs = ms;
  let timer: NodeJS.Timeout | undefined;
  const step = (): void => {
    if (leftMs <= 0) return callback();
    const stepMs = Math.min(leftMs, STEP_MS_MAX);
    leftMs -= stepMs;
    timer = setTimeout(step, stepMs);
  };
  step();
  return () => clearTimeout(timer);
}
