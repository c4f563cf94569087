import { HazelcastGrid } from '../../grid/hazelcast/hazelcast-grid.ts';
import type { SealKey, SealOptions } from '../../grid/hazelcast/options.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import type { Config, GridConfig } from '../config/index.ts';
import type { NodePorts } from '../node/node.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Telemetry } from '../ports/telemetry.ts';

export interface GridDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly telemetry: Telemetry;
}

/** The configured grid. One beyond this process connects in the background: nothing waits for it. */
export function openGrid(
  config: Config,
  { clock, random, telemetry }: GridDeps,
): Pick<NodePorts, 'grid' | 'localGrid'> {
  const { kind, memory, hazelcast } = config.grid;
  if (kind === 'memory') {
    const roles = { entries: { bytesMax: memory.entriesBytesMax }, vectors: { bytesMax: memory.vectorsBytesMax } };
    const grid = new MemoryGrid({ clock }, { roles, policy: config.node.cache.policy });
    return { grid, localGrid: grid };
  }
  const grid = new HazelcastGrid(
    { clock, random, telemetry },
    {
      members: hazelcast.members,
      clusterName: hazelcast.clusterName,
      clientName: config.node.nodeId,
      membersExpected: hazelcast.membersExpected,
      loopbackOnly: hazelcast.keys.length === 0 && !hazelcast.allowUnsealed,
      seal: sealOf(hazelcast.keys),
      compressBytesMin: hazelcast.compressBytesMin === 0 ? Infinity : hazelcast.compressBytesMin,
    },
  );
  return { grid };
}

function sealOf(keys: GridConfig['hazelcast']['keys']): SealOptions | undefined {
  const [active, ...others] = keys.map(({ id, key }): SealKey => ({
    id,
    key: Uint8Array.from(Buffer.from(key.reveal(), 'base64')),
  }));
  return active === undefined ? undefined : { active, others };
}
