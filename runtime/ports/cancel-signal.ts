type Abortable = Pick<AbortSignal, 'aborted' | 'addEventListener' | 'removeEventListener'>;
type Listener = EventListenerOrEventListenerObject;

interface Entry {
  readonly listener: Listener;
  /** Leaves the signal that would remove the listener. */
  readonly leave: (() => void) | undefined;
}

/**
 * An `AbortSignal` that is its own controller, for signals that are made for each request. A platform's signal costs several
 * microseconds and is kept, with all that its listeners hold, up to the next full garbage collection; this one costs an object.
 * It does what `AbortSignal` does, but isn't one for code that asks for its class.
 */
export class CancelSignal implements AbortSignal {
  onabort: AbortSignal['onabort'] = null;
  #aborted = false;
  #reason: unknown = undefined;
  #entries: readonly Entry[] = NONE;

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
    const event = new Event('abort');
    Object.defineProperty(event, 'target', { value: this });
    this.dispatchEvent(event);
    for (const { leave } of this.#entries) leave?.();
    this.#entries = NONE;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(
    type: string,
    listener: Listener | null,
    options?: boolean | { readonly signal?: Abortable | undefined },
  ): void {
    if (type !== 'abort' || listener === null || this.#aborted || this.#has(listener)) return;
    const remover = typeof options === 'object' ? options.signal : undefined;
    if (remover?.aborted === true) return;
    let leave: (() => void) | undefined;
    if (remover !== undefined) {
      const remove = (): void => this.removeEventListener(type, listener);
      remover.addEventListener('abort', remove);
      leave = () => remover.removeEventListener('abort', remove);
    }
    this.#entries = [...this.#entries, { listener, leave }];
  }

  removeEventListener(type: string, listener: Listener | null): void {
    if (type !== 'abort' || this.#entries.length === 0) return;
    const entry = this.#entries.find((other) => other.listener === listener);
    if (entry === undefined) return;
    entry.leave?.();
    this.#entries = this.#entries.length === 1 ? NONE : this.#entries.filter((other) => other !== entry);
  }

  /** Tells those that listen now; one that throws keeps nobody else from being told. */
  dispatchEvent(event: Event): boolean {
    if (event.type !== 'abort') return true;
    const { onabort } = this;
    if (onabort !== null) tell(() => onabort.call(this, event));
    for (const { listener } of this.#entries) {
      if (!this.#has(listener)) continue;
      tell(() => (typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event)));
    }
    return true;
  }

  #has(listener: Listener): boolean {
    return this.#entries.some((entry) => entry.listener === listener);
  }
}

const NONE: readonly Entry[] = Object.freeze([]);

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
