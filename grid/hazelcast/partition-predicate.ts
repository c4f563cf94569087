import type { DataOutput, Predicate } from 'hazelcast-client';
import { partitionOf } from './partition.ts';

/** Of the predicates that members know without classes of ours; the client has no name for this one. */
const PREDICATE_FACTORY_ID = -20;
const PARTITION_PREDICATE_ID = 16;

/** A predicate that members apply to one partition only: that of a key. */
export class PartitionPredicate implements Predicate {
  readonly factoryId = PREDICATE_FACTORY_ID;
  readonly classId = PARTITION_PREDICATE_ID;
  readonly #partitionKey: string;
  readonly #target: Predicate;

  constructor(partitionKey: string, target: Predicate) {
    this.#partitionKey = partitionKey;
    this.#target = target;
  }

  writeData(output: DataOutput): void {
    output.writeObject(this.#partitionKey);
    output.writeObject(this.#target);
  }

  /** Members never send it. */
  readData(): void {
    throw new Error('a partition predicate is only written');
  }
}

const keysByCount = new Map<number, readonly string[]>();

/** For each partition a key that lies in it. */
export function partitionKeys(partitionCount: number): readonly string[] {
  let keys = keysByCount.get(partitionCount);
  if (keys === undefined) {
    keys = findKeys(partitionCount);
    keysByCount.set(partitionCount, keys);
  }
  return keys;
}

function findKeys(partitionCount: number): string[] {
  const found = new Map<number, string>();
  for (let at = 0; found.size < partitionCount; at += 1) {
    const key = String(at);
    const partition = partitionOf(key, partitionCount) as number;
    if (!found.has(partition)) found.set(partition, key);
  }
  return Array.from({ length: partitionCount }, (_, partition) => found.get(partition) as string);
}
