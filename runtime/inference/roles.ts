import { RepriseError } from '../errors.ts';
import type { Identity, Role } from '../ports/service.ts';

const RANK: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2 };

/** Fails with `permission_denied` when the identity's role is below `role`; `what` begins the message. */
export function requireRole(identity: Identity, role: Role, what: string): void {
  if (RANK[identity.role] >= RANK[role]) return;
  throw new RepriseError(
    'permission_denied',
    `${what} needs the role '${role}'; this credential has '${identity.role}'.`,
  );
}
