import { RepriseError } from '../../runtime/errors.ts';

/** Failures of the client that waiting longer might have cured. */
const TIMEOUTS = new Set(['OperationTimeoutError', 'CallTimeoutError']);

/** A failure of the client as one of ours. Bugs (of type and assertion) stay what they are. */
export function toGridError(error: unknown): unknown {
  if (error instanceof RepriseError) return error;
  if (isBug(error)) return error;
  const name = error instanceof Error ? error.constructor.name : typeof error;
  if (TIMEOUTS.has(name))
    return new RepriseError('grid_timeout', 'The grid gave up waiting for its members.', { cause: error });
  return new RepriseError('grid_unavailable', `A member of the grid failed the call (${name}).`, { cause: error });
}

function isBug(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError || error.message.startsWith('Reprise bug')) return true;
  return 'code' in error && error.code === 'ERR_ASSERTION';
}

export function closedError(): RepriseError {
  return new RepriseError('grid_unavailable', 'The grid is closed.');
}

export function disconnectedError(): RepriseError {
  return new RepriseError(
    'grid_unavailable',
    'No member of the grid is connected; connecting goes on in the background.',
  );
}

/** Stands for a stored value of a type that the client has no reader for: no value of ours. */
export const FOREIGN_TYPE = Symbol('a value of a foreign type');

/** What reading a value of a foreign type gives; any other failure stays one. */
export function foreignTypeOnly(error: unknown): typeof FOREIGN_TYPE {
  if (error instanceof RangeError) return FOREIGN_TYPE;
  if (error instanceof Error && error.constructor.name === 'HazelcastSerializationError') return FOREIGN_TYPE;
  throw error;
}
