import type { EntryEvent, EntryListener } from 'hazelcast-client';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { GridEvent, GridRole, Subscription } from '../../runtime/ports/grid.ts';
import type { Telemetry } from '../../runtime/ports/telemetry.ts';
import type { Session } from './cluster-link.ts';

/** How soon after a change of connections the client has put its listeners onto the new ones. */
const SETTLING_MS = 500;
const RETRY_MS = 1_000;

interface Listening {
  readonly role: GridRole;
  readonly key: string | undefined;
  readonly listener: (event: GridEvent) => void;
  /** Where it is registered now. */
  registered: { readonly session: Session; readonly id: string } | undefined;
  closed: boolean;
}

/**
 * Listeners that outlive connections: each is registered with every session anew, and told `lost` whenever events may have
 * passed by: once it is registered, and after each change of members or connections.
 */
export class Listeners {
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #current: () => Session | undefined;
  readonly #all = new Set<Listening>();
  #settling = false;

  constructor(deps: { readonly clock: Clock; readonly telemetry: Telemetry }, current: () => Session | undefined) {
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
    this.#current = current;
  }

  listen(role: GridRole, listener: (event: GridEvent) => void, key: string | undefined): Subscription {
    const listening: Listening = { role, key, listener, registered: undefined, closed: false };
    this.#all.add(listening);
    const session = this.#current();
    if (session !== undefined) this.#register(listening, session);
    return { close: () => this.#close(listening) };
  }

  onConnected(session: Session): void {
    for (const listening of this.#all) this.#register(listening, session);
  }

  /** Told at once, as events of a lost member are gone, and again when its successor is heard for sure. */
  onChanged(): void {
    this.#tellLost();
    if (this.#settling) return;
    this.#settling = true;
    this.#clock.setTimer(SETTLING_MS, () => {
      this.#settling = false;
      this.#tellLost();
    });
  }

  close(): void {
    for (const listening of this.#all) listening.closed = true;
    this.#all.clear();
  }

  #tellLost(): void {
    for (const listening of this.#all) tell(listening, { kind: 'lost' });
  }

  #register(listening: Listening, session: Session): void {
    const map = session.maps[listening.role];
    map.addEntryListener(entryListener(listening), listening.key).then(
      (id) => {
        if (listening.closed || this.#current() !== session) {
          map.removeEntryListener(id).catch(() => undefined);
          return;
        }
        listening.registered = { session, id };
        tell(listening, { kind: 'lost' });
      },
      (error: unknown) => {
        if (listening.closed || this.#current() !== session) return;
        this.#telemetry.log('warn', 'grid listener not registered', { role: listening.role, cause: String(error) });
        this.#clock.setTimer(RETRY_MS, () => {
          if (!listening.closed && this.#current() === session) this.#register(listening, session);
        });
      },
    );
  }

  #close(listening: Listening): void {
    listening.closed = true;
    this.#all.delete(listening);
    const { registered } = listening;
    if (registered === undefined || this.#current() !== registered.session) return;
    registered.session.maps[listening.role].removeEntryListener(registered.id).catch(() => undefined);
  }
}

function entryListener(listening: Listening): EntryListener<string, unknown> {
  const as =
    (kind: Exclude<GridEvent['kind'], 'lost'>) =>
    ({ key }: EntryEvent<string, unknown>): void =>
      tell(listening, { kind, key });
  const set = as('set');
  const lost = (): void => tell(listening, { kind: 'lost' });
  return {
    added: set,
    updated: set,
    merged: set,
    loaded: set,
    removed: as('removed'),
    evicted: as('evicted'),
    expired: as('expired'),
    mapEvicted: lost,
    mapCleared: lost,
  };
}

function tell(listening: Listening, event: GridEvent): void {
  if (listening.closed) return;
  try {
    listening.listener(event);
  } catch (error) {
    // A listener that throws is a bug of its owner; it surfaces as such, and the client goes on.
    queueMicrotask(() => {
      throw error;
    });
  }
}
