/** One thing that `doctor` looked at. */
export interface Finding {
  readonly name: string;
  /** `info`: good to know, needs nothing. `warn`: works, but less than it could. `fail`: must be mended. */
  readonly state: 'ok' | 'info' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
}
