/** Small named records on the node's own disk; a write is atomic (old or new, never a mixture). */
export interface Storage {
  /** Names match `[a-z0-9][a-z0-9._-]*`. */
  read(name: string): Promise<Uint8Array | undefined>;
  write(name: string, value: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** All names, sorted. */
  list(): Promise<readonly string[]>;
}
