import { RepriseError } from '../errors.ts';
import type { GridConfig, SealKeyConfig } from './config.ts';
import { required, variable, type Environment } from './environment.ts';
import { NAME } from './fields.ts';
import type { Settings } from './schema.ts';
import { Secret } from './secret.ts';

const KEY_BYTES = 32;
const PORT = 5_701;

/** The grid with its topology decided, ports filled in and keys read. */
export function compileGrid({ grid }: Settings, env: Environment): GridConfig {
  const { kind, topology, memory, hazelcast } = grid;
  return {
    kind,
    topology: topology === 'auto' ? (kind === 'memory' ? 'sidecar' : 'hybrid') : topology,
    memory,
    hazelcast: {
      ...hazelcast,
      members: hazelcast.members.map((member) => (/:\d{1,5}$/.test(member) ? member : `${member}:${PORT}`)),
      keys: [
        ...keysFromEnvironment(env),
        ...hazelcast.keys.map(({ id, env: from }, index) =>
          sealKey(id, required(env, from, `grid.hazelcast.keys[${index}].env`), from),
        ),
      ],
    },
  };
}

function keysFromEnvironment(env: Environment): SealKeyConfig[] {
  const listed = variable(env, 'REPRISE_GRID_KEYS');
  if (listed === undefined) return [];
  return listed.split(',').map((item, index) => {
    const [id = '', ...rest] = item.trim().split(':');
    if (!NAME.test(id) || rest.length !== 1) {
      throw new RepriseError('config_invalid', `REPRISE_GRID_KEYS: item ${index + 1} is not id:key.`);
    }
    return sealKey(id, rest[0] ?? '', `REPRISE_GRID_KEYS, item ${index + 1}`);
  });
}

function sealKey(id: string, text: string, from: string): SealKeyConfig {
  const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
  if (!isBase64 || Buffer.from(text, 'base64').byteLength !== KEY_BYTES) {
    throw new RepriseError(
      'config_invalid',
      `${from}: key ${id} is not ${KEY_BYTES} bytes in base64. Make one with: openssl rand -base64 32`,
    );
  }
  return { id, key: new Secret(text) };
}
