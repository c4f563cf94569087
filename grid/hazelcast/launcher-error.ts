import { RepriseError, type ErrorCode } from '../../runtime/errors.ts';

/** Why members could not be started, for programs; the message says what to do. */
export type LauncherReason =
  | 'java_missing'
  | 'java_too_old'
  | 'maven_missing'
  | 'fetch_failed'
  | 'ports_taken'
  | 'member_ended'
  | 'join_timeout'
  | 'already_running';

const CODES: Readonly<Record<LauncherReason, ErrorCode>> = {
  java_missing: 'config_invalid',
  java_too_old: 'config_invalid',
  maven_missing: 'config_invalid',
  fetch_failed: 'unreachable',
  ports_taken: 'address_in_use',
  member_ended: 'unreachable',
  join_timeout: 'unreachable',
  already_running: 'address_in_use',
};

/** Members could not be started. */
export class LauncherError extends RepriseError {
  readonly reason: LauncherReason;

  constructor(reason: LauncherReason, message: string, options: { readonly cause?: unknown } = {}) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}
