/** Exit codes of the CLI. */
export const EXIT = {
  /** The command did what it says. */
  done: 0,
  /** It could not. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The node doesn't answer. */
  unreachable: 3,
  /** The command worked and found something wrong. */
  foundWrong: 4,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A call that a node refused, in the node's own code and words; its message is for people. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly code: string;

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** A command line that can't be carried out as written; its message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
