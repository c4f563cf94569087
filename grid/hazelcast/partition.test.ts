import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partitionOf } from './partition.ts';

const PARTITIONS = 271;

interface ClientSerialisation {
  toData(value: string): { getPartitionHash(): number };
}

/** The client's own serialisation, which it keeps to itself. */
function clientSerialisation(): ClientSerialisation {
  const load = createRequire(import.meta.url);
  const { SerializationServiceV1 } = load('hazelcast-client/lib/serialization/SerializationService.js') as {
    SerializationServiceV1: new (config: object, schemas: object) => ClientSerialisation;
  };
  const { SerializationConfigImpl } = load('hazelcast-client/lib/config/SerializationConfig.js') as {
    SerializationConfigImpl: new () => object;
  };
  return new SerializationServiceV1(new SerializationConfigImpl(), {});
}

it('finds the partition that the client finds', () => {
  const client = clientSerialisation();
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (key) => {
      const ours = partitionOf(key, PARTITIONS);
      if (ours === undefined) expect(key.length).toBeGreaterThan(300);
      else expect(ours).toBe(Math.abs(client.toData(key).getPartitionHash()) % PARTITIONS);
    }),
    { numRuns: 2_000 },
  );
});

it('leaves very long keys to the client', () => {
  expect(partitionOf('k'.repeat(10_000), PARTITIONS)).toBeUndefined();
});
