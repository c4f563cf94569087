/** Which scopes are worth a cell: those that came at least twice. Both tables are bounded; the longest unused goes first. */
export class ScopeTable {
  readonly #seen = new Set<string>();
  readonly #live = new Set<string>();
  readonly #seenMax: number;
  readonly #liveMax: number;

  constructor(options: { readonly seenMax: number; readonly liveMax: number }) {
    this.#seenMax = options.seenMax;
    this.#liveMax = options.liveMax;
  }

  /** A request looks for candidates: true when its scope was known before, and so has a cell from now on. */
  isKnown(scope: string): boolean {
    if (this.#live.has(scope) || this.#seen.delete(scope)) {
      touch(this.#live, scope, this.#liveMax);
      return true;
    }
    touch(this.#seen, scope, this.#seenMax);
    return false;
  }

  /** An answer was stored: the scope's next request finds it known. */
  stored(scope: string): void {
    if (!this.#live.has(scope)) touch(this.#seen, scope, this.#seenMax);
  }

  /** True when the scope has a cell that wants to be told of new vectors. */
  isLive(scope: string): boolean {
    return this.#live.has(scope);
  }
}

function touch(table: Set<string>, scope: string, max: number): void {
  table.delete(scope);
  table.add(scope);
  if (table.size <= max) return;
  const [oldest] = table;
  if (oldest !== undefined) table.delete(oldest);
}
