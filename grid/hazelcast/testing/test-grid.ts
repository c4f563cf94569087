import { randomBytes } from 'node:crypto';
import type { CallOptions } from '../../../runtime/ports/call-options.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import type { Counter, Gauge, Histogram, LogLevel, Telemetry } from '../../../runtime/ports/telemetry.ts';
import type { Lookup } from '../addresses.ts';
import { HazelcastGrid } from '../hazelcast-grid.ts';
import type { HazelcastOptions, SealKey } from '../options.ts';

/** Remembers counts and gauges by name and labels, and what was logged. */
export class RecordingTelemetry implements Telemetry {
  readonly values = new Map<string, number>();
  readonly logged: string[] = [];

  counter(...name: readonly string[]): Counter {
    return { add: (amount = 1) => void this.values.set(name.join(' '), this.count(...name) + amount) };
  }

  gauge(...name: readonly string[]): Gauge {
    return { set: (value) => void this.values.set(name.join(' '), value) };
  }

  histogram(): Histogram {
    return { observe: () => undefined };
  }

  log(level: LogLevel, event: string): void {
    this.logged.push(`${level} ${event}`);
  }

  /** What a counter or gauge stands at. */
  count(...name: readonly string[]): number {
    return this.values.get(name.join(' ')) ?? 0;
  }
}

export interface TestGridDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly lookup?: Lookup;
}

/** A grid of a test, and what it tells. */
export interface TestGrid {
  readonly grid: HazelcastGrid;
  readonly telemetry: RecordingTelemetry;
  /** Options of a call that may take this long, 5 s unless told. */
  readonly within: (ms?: number) => CallOptions;
}

export const TEST_KEY: SealKey = { id: 'test', key: randomBytes(32) };

/** A grid that seals and compresses; it is not connected yet. */
export function openTestGrid(
  deps: TestGridDeps,
  options: Partial<HazelcastOptions> & Pick<HazelcastOptions, 'members' | 'clusterName'>,
): TestGrid {
  const telemetry = new RecordingTelemetry();
  const grid = new HazelcastGrid(
    { ...deps, telemetry },
    {
      clientName: 'test node',
      membersExpected: 1,
      loopbackOnly: false,
      seal: { active: TEST_KEY, others: [] },
      compressBytesMin: 1_024,
      ...options,
    },
  );
  return { grid, telemetry, within: (ms = 5_000) => ({ deadlineAtMs: deps.clock.monotonicMs() + ms }) };
}
