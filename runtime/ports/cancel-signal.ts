type Abortable = Pick<AbortSignal, 'addEventListener' | 'removeEventListener'>;
type Listener = EventListenerOrEventListenerObject;

/**
 * An `AbortSignal` that is its own controller, for signals that are made for each request. A platform's signal costs several
 * microseconds and is kept, with all that its listeners hold, up to the next full garbage collection; this one costs an object.
 * It does what `AbortSignal` does, but isn't one for code that asks for its class.
 */
export class CancelSignal implements AbortSignal {
  onabort: AbortSignal['onabort'] = null;
  #aborted = false;
  #reason: unknown = undefined;
  #listeners: readonly Listener[] = NONE;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Aborts it, the first time only; `reason`: an error, `AbortError` unless told. */
  cancel(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.dispatchEvent(new Event('abort'));
    this.#listeners = NONE;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(
    type: string,
    listener: Listener | null,
    options?: boolean | { readonly signal?: Abortable | undefined },
  ): void {
    if (type !== 'abort' || listener === null || this.#aborted || this.#listeners.includes(listener)) return;
    this.#listeners = [...this.#listeners, listener];
    if (typeof options === 'object') {
      options.signal?.addEventListener('abort', () => this.removeEventListener(type, listener));
    }
  }

  removeEventListener(type: string, listener: Listener | null): void {
    if (type !== 'abort' || this.#listeners.length === 0) return;
    this.#listeners = this.#listeners.length === 1 && this.#listeners[0] === listener ? NONE : this.#without(listener);
  }

  /** Tells those that listen now; one that throws keeps nobody else from being told. */
  dispatchEvent(event: Event): boolean {
    if (event.type !== 'abort') return true;
    const { onabort } = this;
    if (onabort !== null) tell(() => onabort.call(this, event));
    for (const listener of this.#listeners) {
      if (!this.#listeners.includes(listener)) continue;
      tell(() => (typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event)));
    }
    return true;
  }

  #without(listener: Listener | null): readonly Listener[] {
    return this.#listeners.filter((other) => other !== listener);
  }
}

const NONE: readonly Listener[] = Object.freeze([]);

/** As for an `EventTarget`: what a listener throws is nobody's to catch. */
function tell(act: () => void): void {
  try {
    act();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** A signal that nobody aborts. Callers without one share it, so it keeps no listeners. */
export const NEVER_CANCELLED: AbortSignal = neverCancelled();

function neverCancelled(): AbortSignal {
  const signal = new CancelSignal();
  signal.addEventListener = () => undefined;
  signal.cancel = () => undefined;
  return signal;
}
