const SAMPLE_RATIO = 10;
const STEP_SHARE = 0.0625;
const STEP_DECAY = 0.98;
const RESTART_CHANGE = 0.05;
const SHARE_MIN = 0.01;
const SHARE_MAX = 0.8;

/**
 * Finds the share of a window by hill climbing: as long as the hit rate rises the share goes on in its direction, by
 * steps that shrink; a jump of the hit rate makes them large again.
 */
export class WindowClimber {
  readonly #shareFirst: number;
  #share: number;
  #step = STEP_SHARE;
  #hits = 0;
  #requests = 0;
  #rateBefore = -1;

  constructor(share: number) {
    this.#shareFirst = share;
    this.#share = share;
  }

  get share(): number {
    return this.#share;
  }

  /** Counts a request of a cache with so many residents. True when the share changed. */
  count(isHit: boolean, residents: number): boolean {
    this.#requests += 1;
    if (isHit) this.#hits += 1;
    if (this.#requests < SAMPLE_RATIO * Math.max(residents, 16)) return false;
    const rate = this.#hits / this.#requests;
    this.#requests = 0;
    this.#hits = 0;
    const change = rate - this.#rateBefore;
    const isFirst = this.#rateBefore < 0;
    this.#rateBefore = rate;
    if (isFirst) return false;
    if (Math.abs(change) >= RESTART_CHANGE) this.#step = Math.sign(this.#step) * STEP_SHARE;
    else this.#step *= STEP_DECAY;
    if (change < 0) this.#step = -this.#step;
    this.#share = Math.min(Math.max(this.#share + this.#step, SHARE_MIN), SHARE_MAX);
    return true;
  }

  clear(): void {
    this.#share = this.#shareFirst;
    this.#step = STEP_SHARE;
    this.#hits = 0;
    this.#requests = 0;
    this.#rateBefore = -1;
  }
}
