import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What goes wrong on a connection. Directions are those of the one who connected: `toTarget` is what it says. */
export type Fault =
  /** Bytes arrive this much later, each way; their order and rate stay. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Nothing passes any more, and nothing is lost: it passes when the fault is taken away. */
  | { readonly kind: 'stall'; readonly direction: 'both' | 'toTarget' | 'fromTarget' }
  /** Connections are reset, new ones too, as soon as they are made. */
  | { readonly kind: 'refuse' };

export interface ProxyOptions {
  readonly target: { readonly host: string; readonly port: number };
  /** Where it listens; port 0, or none: any free one. */
  readonly host?: string;
  readonly port?: number;
  /** Names whoever connects, by its address: faults may be set for one name alone. */
  readonly nameOf?: (remoteAddress: string) => string;
}

const STALLED_BYTES_MAX = 64 * 1024 * 1024;

/** A TCP proxy in front of one target that delays, holds back, cuts and refuses what it is told to. */
export class FaultyProxy {
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #faults = new Map<string, Fault>();
  #faultOfAll: Fault | undefined = undefined;

  private constructor(options: ProxyOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  static async open(options: ProxyOptions): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 }, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `host:port` that it listens on. */
  get address(): string {
    return `${this.#options.host ?? '127.0.0.1'}:${this.port}`;
  }

  /** Open connections, of one name or all. */
  connections(name?: string): number {
    return [...this.#links].filter((link) => name === undefined || link.name === name).length;
  }

  /** Sets the fault of open and coming connections, of one name or of all that have none of their own; undefined: none. */
  setFault(fault: Fault | undefined, name?: string): void {
    if (name === undefined) this.#faultOfAll = fault;
    else if (fault === undefined) this.#faults.delete(name);
    else this.#faults.set(name, fault);
    for (const link of this.#links) link.setFault(this.#faultOf(link.name));
  }

  /** Takes all faults away. */
  heal(): void {
    this.#faults.clear();
    this.setFault(undefined);
  }

  /** Resets the open connections, of one name or all; new ones are welcome. */
  cut(name?: string): void {
    for (const link of this.#links) if (name === undefined || link.name === name) link.reset();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut();
    await closed;
  }

  #faultOf(name: string): Fault | undefined {
    return this.#faults.get(name) ?? this.#faultOfAll;
  }

  #accept(socket: Socket): void {
    const name = this.#options.nameOf?.(socket.remoteAddress ?? '') ?? '';
    const fault = this.#faultOf(name);
    if (fault?.kind === 'refuse') {
      socket.on('error', () => undefined);
      socket.resetAndDestroy();
      return;
    }
    const link = new Link(name, socket, connect({ ...this.#options.target, allowHalfOpen: true }), () =>
      this.#links.delete(link),
    );
    this.#links.add(link);
    link.setFault(fault);
  }
}

/** One connection through the proxy: two sockets and a pipe each way. */
class Link {
  readonly name: string;
  readonly #client: Socket;
  readonly #target: Socket;
  readonly #toTarget: Pipe;
  readonly #fromTarget: Pipe;

  constructor(name: string, client: Socket, target: Socket, onClosed: () => void) {
    this.name = name;
    this.#client = client;
    this.#target = target;
    this.#toTarget = new Pipe(client, target);
    this.#fromTarget = new Pipe(target, client);
    for (const socket of [client, target]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.reset());
      socket.on('close', () => {
        if (client.destroyed && target.destroyed) onClosed();
      });
    }
  }

  setFault(fault: Fault | undefined): void {
    if (fault?.kind === 'refuse') return this.reset();
    const stalled = fault?.kind === 'stall' ? fault.direction : undefined;
    const delayMs = fault?.kind === 'delay' ? fault.ms : 0;
    this.#toTarget.set({ delayMs, isStalled: stalled === 'both' || stalled === 'toTarget' });
    this.#fromTarget.set({ delayMs, isStalled: stalled === 'both' || stalled === 'fromTarget' });
  }

  reset(): void {
    this.#toTarget.drop();
    this.#fromTarget.drop();
    for (const socket of [this.#client, this.#target]) if (!socket.destroyed) socket.resetAndDestroy();
  }
}

interface Held {
  /** undefined: the end of the stream. */
  readonly bytes: Buffer | undefined;
  readonly dueAtMs: number;
}

/** One direction of a connection. */
class Pipe {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #held: Held[] = [];
  #heldBytes = 0;
  #delayMs = 0;
  #isStalled = false;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
    from.on('data', (bytes: Buffer) => this.#take(bytes));
    from.on('end', () => this.#take(undefined));
    to.on('drain', () => this.#resume());
  }

  set({ delayMs, isStalled }: { readonly delayMs: number; readonly isStalled: boolean }): void {
    this.#delayMs = delayMs;
    this.#isStalled = isStalled;
    this.#pass();
  }

  drop(): void {
    clearTimeout(this.#timer);
    this.#held.length = 0;
    this.#heldBytes = 0;
  }

  #take(bytes: Buffer | undefined): void {
    // What is held back keeps its place: a later delay never lets bytes overtake others.
    const previousMs = this.#held.at(-1)?.dueAtMs ?? 0;
    this.#held.push({ bytes, dueAtMs: Math.max(previousMs, performance.now() + this.#delayMs) });
    this.#heldBytes += bytes?.length ?? 0;
    // A sender of more than a stalled connection would buffer waits, as it would for a stalled peer.
    if (this.#heldBytes > STALLED_BYTES_MAX) this.#from.pause();
    this.#pass();
  }

  #pass(): void {
    clearTimeout(this.#timer);
    if (this.#isStalled) return;
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const waitMs = next.dueAtMs - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#pass(), Math.ceil(waitMs));
        return;
      }
      this.#held.shift();
      this.#heldBytes -= next.bytes?.length ?? 0;
      if (next.bytes === undefined) this.#to.end();
      else if (!this.#to.destroyed && !this.#to.write(next.bytes)) this.#from.pause();
    }
    this.#resume();
  }

  #resume(): void {
    if (this.#heldBytes <= STALLED_BYTES_MAX && !this.#to.writableNeedDrain) this.#from.resume();
  }
}
