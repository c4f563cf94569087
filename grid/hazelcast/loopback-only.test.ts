import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SystemClock } from '../../runtime/host/system-clock.ts';
import { SystemRandom } from '../../runtime/host/system-random.ts';
import { startMembers } from './launcher.ts';
import { freePorts } from './launcher-ports.ts';
import { LIB_DIR, unavailable } from './testing/cluster.ts';
import { openTestGrid } from './testing/test-grid.ts';

const missing = unavailable();
if (missing !== undefined) process.stderr.write(`left out: members beyond this machine: ${missing}\n`);

it.skipIf(missing !== undefined)(
  'a cluster that names a member beyond this machine is refused, whatever address led to it, where values would go in clear',
  { timeout: 60_000 },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'reprise-grid-'));
    const [port = 0] = await freePorts('127.0.0.1', 1, 17_000);
    const members = await startMembers({
      members: 1,
      ports: [port],
      publicAddresses: [`192.0.2.2:${port}`],
      dataDir,
      libDir: LIB_DIR,
      heapMb: 256,
      clusterName: 'beyond',
    });
    const { grid, within, telemetry } = openTestGrid(
      { clock: new SystemClock(), random: new SystemRandom() },
      { members: [`127.0.0.1:${port}`], clusterName: 'beyond', seal: undefined, loopbackOnly: true },
    );
    try {
      await expect
        .poll(() => telemetry.count('reprise_grid_connections_total', 'failed'), { timeout: 20_000 })
        .toBeGreaterThan(0);
      expect(grid.health().detail).toContain('beyond this machine (192.0.2.2)');
      await expect(grid.size('entries', within(500))).rejects.toMatchObject({ code: 'grid_unavailable' });
    } finally {
      await grid.close();
      await members.stop({ limitMs: 0 });
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    }
  },
);
