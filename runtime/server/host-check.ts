const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const KNOWN_MAX = 256;

/**
 * Which `Host` headers are accepted. A server on loopback that asks no credential trusts whoever reaches it; a web page whose
 * own name was pointed at this machine (DNS rebinding) reaches it too, and only the name tells.
 */
export class HostCheck {
  readonly #allowed: ReadonlySet<string>;
  readonly #anything: boolean;
  /** Headers that passed, as they came: nearly all requests carry one of a few. */
  readonly #passed = new Set<string>();

  /** `allowed`: names beside the loopback ones; `*`: any. */
  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((name) => name.toLowerCase()));
    this.#anything = this.#allowed.has('*');
  }

  accepts(header: string | undefined): boolean {
    if (this.#anything || header === undefined || this.#passed.has(header)) return true;
    const name = header.toLowerCase().replace(/:\d{0,5}$/, '');
    const passes = LOOPBACK.test(name) || this.#allowed.has(name);
    if (passes && this.#passed.size < KNOWN_MAX) this.#passed.add(header);
    return passes;
  }
}
