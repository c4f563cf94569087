import type { Incarnation } from './ledger.ts';

/** The name of the format of exported entries; a reader refuses any other. docs/deployment.md describes it. */
export const ENTRIES_SCHEMA = 'reprise/entries/v1';

/** Entries that a node takes or gives at once. */
export const TRANSFER_ITEMS_MAX = 256;

/** What a node's entries are tied to: elsewhere their keys, bytes or positions may mean nothing. */
export interface TransferTerms {
  /** Version of the derivation of keys. */
  readonly keyVersion: number;
  /** Version of the layout of entries. */
  readonly layoutVersion: number;
  /** The ledger's life in which the positions of entries count. */
  readonly incarnation: Incarnation;
}

/** An entry on its way out or in. */
export interface TransferItem {
  /** 64 hex characters. */
  readonly key: string;
  /** In the layout of docs/entry-layout.md. */
  readonly value: Uint8Array;
  /** True when soft marks had made it stale where it came from. */
  readonly isStale: boolean;
}

/** Which entries are wanted, and from where on. */
export interface ExportRequest {
  /** Absent: of every tenant. */
  readonly tenant?: string;
  /** Absent: of every namespace. */
  readonly namespace?: string;
  /** `next` of the page before. */
  readonly after?: string;
  /** Entries to look at; at most `TRANSFER_ITEMS_MAX`. */
  readonly limit: number;
}

/** Some of the entries that may still be served; an invalid or expired one is left out. */
export interface ExportPage {
  readonly terms: TransferTerms;
  readonly items: readonly TransferItem[];
  /** Entries looked at, and their bytes. */
  readonly scanned: number;
  readonly scannedBytes: number;
  /** Absent on the last page. */
  readonly next?: string;
}

export interface ImportRequest {
  /** At most `TRANSFER_ITEMS_MAX`. */
  readonly items: readonly TransferItem[];
  /**
   * Takes entries of other incarnations too, as if they had been there since this one began: every mark that its ledger remembers counts
   * against them. Refused unless it is the current one. Absent: such entries are left out.
   */
  readonly adoptInto?: Incarnation;
}

/** What became of offered entries; the counts sum to their number. */
export interface ImportCounts {
  readonly imported: number;
  /** Past their expiry. */
  readonly expired: number;
  /** Invalidated since, or not to be judged. */
  readonly invalid: number;
  /** Left out because a newer answer to the same key is there. */
  readonly kept: number;
  /** Of another incarnation, and not to be adopted. */
  readonly foreign: number;
  /** Larger than this node stores. */
  readonly tooLarge: number;
  /** In no layout that this node knows. */
  readonly unreadable: number;
}

/** Carries entries out of a grid and into one, under the rules of the ledger. Fails as the grid does. */
export interface Transfer {
  /** Reads the ledger first. */
  terms(): Promise<TransferTerms>;
  exportPage(request: ExportRequest): Promise<ExportPage>;
  /** May be repeated: what is there already is stored again. */
  importItems(request: ImportRequest): Promise<ImportCounts>;
}
