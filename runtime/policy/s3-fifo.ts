import type { PolicyKey } from './key-hash.ts';
import { SlottedPolicy } from './slotted-policy.ts';
import { SlotS3Fifo } from './slots/slot-s3-fifo.ts';

/**
 * S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023, section 4.1 and algorithm 1), with
 * sizes in bytes: a small queue of 10 % filters what is asked for once, a main queue gives each hit another round, and a
 * ghost queue remembers as many bytes as the main queue may hold.
 */
export class S3Fifo<K extends PolicyKey = string> extends SlottedPolicy<K, SlotS3Fifo> {
  constructor(bytesMax: number) {
    super(bytesMax, (owner) => new SlotS3Fifo(bytesMax, owner));
  }
}
