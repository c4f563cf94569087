import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningMembers } from '../launcher.ts';
import { memberFiles } from '../member-files.ts';

/** A quick start for slow running: no second compiler, no verification of classes. */
const QUICK = [
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-XX:+UnlockDiagnosticVMOptions',
  '-XX:-BytecodeVerificationRemote',
];
const DUMP_MS = 20_000;
/** Of the member that writes the archive. */
const WRITER = 0;

/**
 * Java options of test members. The classes that a member loads are kept beside the jar, once, when the first cluster is
 * closed; members that find them there start in half the time. Java itself leaves an archive of another version alone.
 */
export class QuickJava {
  readonly #archive: string;
  /** Where one member of this cluster writes it; undefined when it is there. */
  readonly #landing: string | undefined;

  constructor(libDir: string) {
    this.#archive = join(libDir, `hazelcast-${memberFiles().version}-classes.jsa`);
    this.#landing = existsSync(this.#archive) ? undefined : `${this.#archive}.${randomUUID()}`;
  }

  optionsOf(index: number): readonly string[] {
    if (this.#landing === undefined) return [...QUICK, `-XX:SharedArchiveFile=${this.#archive}`];
    return index === WRITER ? [...QUICK, `-XX:ArchiveClassesAtExit=${this.#landing}`] : QUICK;
  }

  /** Ends the member that writes the archive, where one does, and puts what it wrote into its place. */
  async keepClasses(running: RunningMembers | undefined): Promise<void> {
    if (this.#landing === undefined) return;
    const isWriting = running?.members[WRITER]?.isRunning === true;
    if (isWriting) await running.stop({ index: WRITER, limitMs: DUMP_MS });
    // What a killed member left is half an archive.
    const isWhole = isWriting && running.members[WRITER]?.process.wasKilled === false && existsSync(this.#landing);
    if (isWhole) await rename(this.#landing, this.#archive);
    else await rm(this.#landing, { force: true });
  }
}
