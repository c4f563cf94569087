import type { ManualClock } from '../../../grid/conformance/manual-clock.ts';

/** Longer than a node waits between two confirmations of its ledger. */
const CONFIRMED_MS = 600;

/** Moves a test's clock on by `ms`, and lets the node confirm its ledger at the new time. */
export async function passTime(clock: ManualClock, ms: number): Promise<void> {
  clock.advance(Math.max(0, ms - CONFIRMED_MS));
  await turns();
  clock.advance(Math.min(ms, CONFIRMED_MS));
  await turns();
}

/** A few turns of the event loop: all that work on the in-process grid needs. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}
