import { RepriseError } from '../../../runtime/errors.ts';
import { TRANSFER_ITEMS_MAX, type ImportCounts, type TransferTerms } from '../../../runtime/ports/transfer.ts';
import { CommandFailure } from '../exit.ts';
import { openEntries, type EntriesHeader, type EntryLine, type ReadLine } from './entries-file.ts';
import { NodeTransfer, type NodeTransferOptions } from './node-transfer.ts';

export interface ImportOptions extends NodeTransferOptions {
  readonly path: string;
  /** Takes entries of another incarnation of the ledger. */
  readonly adopt: boolean;
  readonly onProgress: (what: 'checked' | 'imported', done: number, total: number | undefined) => void;
}

/** What an import came to. */
export interface Imported extends ImportCounts {
  readonly path: string;
  /** Entries in the file; the counts sum to them. */
  readonly entries: number;
  /** True when entries of another incarnation were taken. */
  readonly adopted: boolean;
}

/** Base64 of entries that one batch holds; a larger entry goes alone. */
const BATCH_CHARACTERS = 2 * 1_024 * 1_024;

/**
 * Offers the entries of a file to a node. The whole file is read and checked first: of a damaged one nothing is imported. Fails with
 * `data_invalid` for the file, `unreachable`, or the node's own refusal; what was imported until then is good, and may be imported again.
 */
export async function importFromFile(options: ImportOptions): Promise<Imported> {
  const { path, adopt, onProgress } = options;
  const { header, entries } = await checkedFile(path, onProgress);
  const node = new NodeTransfer(options);
  const terms = await node.terms();
  checkTerms(path, header, terms);
  const isForeign = header.incarnation.random !== terms.incarnation.random;
  if (isForeign && !adopt) throw foreign(path, header);
  const adoptInto = isForeign ? terms.incarnation : undefined;
  const counts = { imported: 0, expired: 0, invalid: 0, kept: 0, foreign: 0, tooLarge: 0, unreadable: 0 };
  let done = 0;
  for await (const batch of batchesOf(path)) {
    const came = await offered(node, batch, adoptInto).catch((error: unknown) => {
      throw broken(error, { path, line: batch[0]?.line ?? 0, done });
    });
    for (const name of Object.keys(counts) as (keyof ImportCounts)[]) counts[name] += came[name];
    done += batch.length;
    onProgress('imported', done, entries);
  }
  return { path, entries, adopted: isForeign, ...counts };
}

async function checkedFile(
  path: string,
  onProgress: ImportOptions['onProgress'],
): Promise<{ readonly header: EntriesHeader; readonly entries: number }> {
  const file = await openEntries(path);
  let entries = 0;
  for await (const _line of file.entries) {
    entries += 1;
    onProgress('checked', entries, undefined);
  }
  return { header: file.header, entries };
}

function checkTerms(path: string, header: EntriesHeader, terms: TransferTerms): void {
  const { keyVersion, layoutVersion } = terms;
  if (header.keyVersion !== keyVersion) {
    throw new RepriseError(
      'data_invalid',
      `${path} has keys of derivation ${header.keyVersion}; this node derives version ${keyVersion} and would never find them.`,
    );
  }
  if (header.layoutVersion === layoutVersion) return;
  throw new RepriseError(
    'data_invalid',
    `${path} has entries of layout ${header.layoutVersion}; this node reads layout ${layoutVersion}.`,
  );
}

function foreign(path: string, { exportedAt }: EntriesHeader): RepriseError {
  return new RepriseError(
    'data_invalid',
    `${path} comes from another ledger than this grid's, which can't tell what was invalidated since ${exportedAt}. ` +
      'If nothing in it was, or it may be served all the same, say so with --adopt.',
  );
}

async function* batchesOf(path: string): AsyncGenerator<readonly ReadLine[]> {
  const file = await openEntries(path);
  try {
    let batch: ReadLine[] = [];
    let characters = 0;
    for await (const line of file.entries) {
      const isFull = batch.length === TRANSFER_ITEMS_MAX || characters + line.entry.length > BATCH_CHARACTERS;
      if (isFull && batch.length > 0) {
        yield batch;
        [batch, characters] = [[], 0];
      }
      batch.push(line);
      characters += line.entry.length;
    }
    if (batch.length > 0) yield batch;
  } finally {
    await file.close();
  }
}

/** Offers a batch; one that is more than the node takes at once is taken apart. */
async function offered(
  node: NodeTransfer,
  batch: readonly ReadLine[],
  adoptInto: TransferTerms['incarnation'] | undefined,
): Promise<ImportCounts> {
  const entries = batch.map(({ key, entry, stale }): EntryLine => ({ key, entry, ...(stale === true && { stale }) }));
  try {
    return await node.offer({ entries, ...(adoptInto !== undefined && { adoptInto }) });
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.code !== 'body_too_large') throw error;
  }
  const sum = { imported: 0, expired: 0, invalid: 0, kept: 0, foreign: 0, tooLarge: 0, unreadable: 0 };
  if (batch.length === 1) return { ...sum, tooLarge: 1 };
  for (const line of batch) {
    const came = await offered(node, [line], adoptInto);
    for (const name of Object.keys(sum) as (keyof ImportCounts)[]) sum[name] += came[name];
  }
  return sum;
}

/** The failure, with how far it came. */
function broken(
  error: unknown,
  { path, line, done }: { readonly path: string; readonly line: number; readonly done: number },
): unknown {
  if (!(error instanceof RepriseError || error instanceof CommandFailure)) return error;
  const far = `It broke off at line ${line} of ${path}, with ${done} entries done; the same command may be given again.`;
  return new CommandFailure(error.code, `${error.message} ${far}`, error);
}
