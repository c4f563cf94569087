import { RepriseError } from '../../../runtime/errors.ts';
import { TRANSFER_ITEMS_MAX } from '../../../runtime/ports/transfer.ts';
import { LineFile } from '../record/line-file.ts';
import { endLine, entryLine, headerLine } from './entries-file.ts';
import { NodeTransfer, type NodeTransferOptions } from './node-transfer.ts';

export interface ExportOptions extends NodeTransferOptions {
  readonly path: string;
  /** Absent: all of them. */
  readonly tenant?: string;
  readonly namespace?: string;
  readonly onProgress: (entries: number, bytes: number) => void;
}

/** What an export came to. */
export interface Exported {
  readonly path: string;
  readonly entries: number;
  /** Of these, how many were stale. */
  readonly stale: number;
  /** Entries that the node looked at. */
  readonly scanned: number;
  /** Of lines, before compression. */
  readonly bytes: number;
}

const FIRST_PAGE_ITEMS = 16;
/** Size of entries that a page is meant to have. */
const PAGE_BYTES = 4 * 1_024 * 1_024;

/**
 * Takes the entries of a node's grid into a file for its owner only, under another name until it is whole. Fails with `unreachable`, with
 * the node's own refusal, or with `data_invalid` where the file can't be written; then there is no file.
 */
export async function exportToFile(options: ExportOptions): Promise<Exported> {
  const { path, tenant, namespace, onProgress } = options;
  const node = new NodeTransfer(options);
  const terms = await node.terms();
  const { incarnation } = terms;
  let [entries, stale, scanned] = [0, 0, 0];
  const file = await LineFile.fill(path, Number.POSITIVE_INFINITY, async (lines) => {
    const write = (text: string): Promise<void> => lines.take(Buffer.from(text));
    await write(headerLine(terms, new Date()));
    let limit = FIRST_PAGE_ITEMS;
    let after: string | undefined;
    do {
      const page = await node.page({
        limit,
        ...(tenant !== undefined && { tenant }),
        ...(namespace !== undefined && { namespace }),
        ...(after !== undefined && { after }),
      });
      if (page.terms.incarnation.random !== incarnation.random) {
        throw new RepriseError('grid_unavailable', 'The ledger began anew during the export; export again.');
      }
      for (const entry of page.entries) {
        await write(entryLine(entry));
        entries += 1;
        if (entry.stale === true) stale += 1;
      }
      scanned += page.scanned;
      limit = limitAfter(page);
      after = page.next;
      onProgress(entries, lines.bytes);
    } while (after !== undefined);
    await write(endLine(entries));
  });
  return { path, entries, stale, scanned, bytes: file.bytes };
}

/** As many entries as fit a page, if they are as large as those before. */
function limitAfter({ scanned, scannedBytes }: { readonly scanned: number; readonly scannedBytes: number }): number {
  const mean = Math.max(1, scannedBytes) / Math.max(1, scanned);
  return Math.min(TRANSFER_ITEMS_MAX, Math.max(1, Math.floor(PAGE_BYTES / mean)));
}
