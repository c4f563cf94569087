import { startMembers } from '../../grid/hazelcast/launcher.ts';
import { isAlive, readState } from '../../grid/hazelcast/launcher-state.ts';
import type { Config } from '../config/index.ts';

/** Members on this machine that a node begins with. */
export interface LocalMembers {
  readonly addresses: readonly string[];
  readonly clusterName: string;
  /** Stops those that were started for this process; others stay. */
  stop(): Promise<void>;
}

const HEAP_MB = 512;

/**
 * The members that `reprise grid start` left running, else one that is started now and ends with this process. `say` is told of the
 * progress; the signal ends the start.
 */
export async function localMembers(
  { dataDir, grid }: Config,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<LocalMembers> {
  const state = await readState(dataDir);
  const alive = await Promise.all((state?.members ?? []).map(isAlive));
  const running = (state?.members ?? []).filter((_, index) => alive[index] === true);
  if (state !== undefined && running.length > 0) {
    const addresses = running.map(({ address }) => address);
    say(`using the members that run on this machine: ${addresses.join(', ')}`);
    return { addresses, clusterName: state.clusterName, stop: () => Promise.resolve() };
  }
  const { clusterName } = grid.hazelcast;
  const started = await startMembers({ members: 1, dataDir, heapMb: HEAP_MB, clusterName, onProgress: say, signal });
  return { addresses: started.addresses, clusterName, stop: () => started.stop() };
}
