import type { GridRole } from '../../runtime/ports/grid.ts';

/** The grid's maps by role; the members' configuration names the same. */
export const MAP_NAMES: Readonly<Record<GridRole, string>> = {
  entries: 'reprise.entries',
  vectors: 'reprise.vectors',
  ledger: 'reprise.ledger',
  members: 'reprise.members',
  control: 'reprise.control',
};

export const GRID_ROLES = Object.keys(MAP_NAMES) as readonly GridRole[];
