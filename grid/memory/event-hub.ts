import type { GridEvent, Subscription } from '../../runtime/ports/grid.ts';

/** Events that may wait for delivery; past it they are dropped and `lost` is told instead. */
export const EVENTS_WAITING_MAX = 65_536;

type Listener = (event: GridEvent) => void;
type KeyEventKind = Exclude<GridEvent['kind'], 'lost'>;

/**
 * Hands one map's events to its listeners, in the order of the changes, in a microtask of its own: a listener never
 * runs inside the call that made the change, and what it does to the map is told after what it was told.
 */
export class EventHub {
  readonly #listeners = new Set<{ readonly key: string | undefined; readonly listener: Listener }>();
  #waiting: GridEvent[] = [];

  listen(listener: Listener, key: string | undefined): Subscription {
    const registration = { key, listener };
    this.#listeners.add(registration);
    return { close: () => void this.#listeners.delete(registration) };
  }

  tell(kind: KeyEventKind, key: string): void {
    if (this.#listeners.size === 0) return;
    if (this.#waiting.length === 0) queueMicrotask(() => this.#deliver());
    if (this.#waiting.length < EVENTS_WAITING_MAX) this.#waiting.push({ kind, key });
    else this.#waiting = [{ kind: 'lost' }];
  }

  close(): void {
    this.#listeners.clear();
    this.#waiting = [];
  }

  #deliver(): void {
    const events = this.#waiting;
    this.#waiting = [];
    for (const event of events) {
      for (const { key, listener } of this.#listeners) {
        if (key !== undefined && event.kind !== 'lost' && event.key !== key) continue;
        try {
          listener(event);
        } catch (error) {
          // A listener that throws is a bug of its owner; it surfaces as such, and the others are told all the same.
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    }
  }
}
