import type { Readiness, Stats } from '../ports/service.ts';

/** The part of `Stats` that the node, not its traffic, makes up. */
export type OwnStats = Pick<
  Stats,
  | 'entries'
  | 'entryBytes'
  | 'vectors'
  | 'evictions'
  | 'ledgerSequence'
  | 'ledgerConfirmedAgeMs'
  | 'semantic'
  | 'uptimeMs'
>;

/** What the node tells of itself. */
export interface NodeState {
  stats(): Promise<OwnStats>;
  readiness(): Readiness;
}
