import { drainMicrotasks } from './drain.ts';
import { NodeHash } from '../../runtime/host/node-hash.ts';
import { runTwoNodes } from '../scenarios/two-nodes.ts';

const [seed = 'reprise', times = '1'] = process.argv.slice(2);
for (let run = 0; run < Number(times); run += 1) {
  const result = await runTwoNodes({ seed, hash: new NodeHash(), drain: drainMicrotasks });
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
