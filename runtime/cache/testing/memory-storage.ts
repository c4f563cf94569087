import type { Storage } from '../../ports/storage.ts';

/** A storage that a test looks into. */
export class MemoryStorage implements Storage {
  readonly records = new Map<string, Uint8Array>();

  read(name: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.records.get(name));
  }

  write(name: string, value: Uint8Array): Promise<void> {
    this.records.set(name, value);
    return Promise.resolve();
  }

  remove(name: string): Promise<void> {
    this.records.delete(name);
    return Promise.resolve();
  }

  list(): Promise<readonly string[]> {
    return Promise.resolve([...this.records.keys()].sort());
  }
}
