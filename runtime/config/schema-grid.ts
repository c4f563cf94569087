import { z } from 'zod';
import { bytes, choice, count, flag, name } from './fields.ts';

const MIB = 1024 * 1024;

/** Topologies by name; docs/topologies.md says when to use which. */
export const TOPOLOGIES = ['auto', 'sidecar', 'centralised', 'hybrid'] as const;

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MEMBER = /^(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:\d{1,5})?$/;

const sealKey = z.strictObject({
  id: name.describe('Name of the key, written beside each value that it seals.'),
  env: z
    .string()
    .regex(ENV_NAME, 'must be the name of an environment variable')
    .describe('Environment variable that holds the key: 32 bytes in base64.'),
});

const memory = z.strictObject({
  entriesBytesMax: bytes('Bound of the entries.', 512 * MIB, { min: 65_536 }),
  vectorsBytesMax: bytes('Bound of the vectors.', 256 * MIB, { min: 65_536 }),
});

const hazelcast = z.strictObject({
  members: z
    .array(
      z
        .string()
        .regex(
          MEMBER,
          'must be a host or address, with or without a port: "10.0.0.5:5701", "[::1]:5701", "members:5701"',
        ),
    )
    .min(1)
    .max(256)
    .default(['127.0.0.1:5701'])
    .describe(
      'Members to begin with, as `host:port` (port 5701 where none is named); of a name all addresses are used.',
    ),
  clusterName: name.default('reprise').describe('Name of the cluster; members of another one are refused.'),
  membersExpected: count(
    'Members that the cluster has when it is whole: with fewer `/readyz` says degraded. The members are told the same number for their majority protection; 0: not told.',
    0,
    { max: 256 },
  ),
  keys: z
    .array(sealKey)
    .max(16)
    .default([])
    .describe(
      'Keys that seal what goes to the members. The first one seals, all of them open: put a new one first to rotate.',
    ),
  allowUnsealed: flag('Send values in clear to members beyond loopback.', false),
  compressBytesMin: bytes('Larger values are compressed; 0: none is.', 1_024),
});

/** `grid` of `reprise.yaml`. */
export const grid = z.strictObject({
  kind: choice(
    'Which grid holds the cached data: the one in this process, or a Hazelcast cluster.',
    ['memory', 'hazelcast'],
    'memory',
  ),
  topology: choice(
    'sidecar: this process only; centralised: the grid only, no near cache; hybrid: near cache above the grid; auto: sidecar in memory, hybrid on Hazelcast.',
    TOPOLOGIES,
    'auto',
  ),
  memory: memory.prefault({}).describe('The in-process grid.'),
  hazelcast: hazelcast.prefault({}).describe('The Hazelcast cluster.'),
});
