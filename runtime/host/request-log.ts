import type { RequestRecord } from '../../clients/gateway/index.ts';

/** Where lines go: each `write` takes whole lines. */
export interface LineSink {
  write(lines: string): unknown;
}

/** The level number of `info`, as the logger writes it. */
const INFO = 30;
/** How long a line waits for others. */
const WAIT_MS = 20;
/** Lines that wait; past it they leave at once. */
const WAITING_MAX = 1_024;
const QUOTED_MAX = 256;
const QUOTED_CHARACTERS_MAX = 256;
const MILLISECONDS_TEXT = '000Z';

/**
 * One log line a request, in the logger's own format. Lines of a short while leave together: the sink measures all that it
 * holds on each write, which costs more than the line itself.
 */
export class RequestLog {
  readonly #sink: LineSink;
  readonly #now: () => number;
  #waiting: string[] = [];
  #isScheduled = false;
  readonly #quoted = new QuotedTexts();
  #second = Number.NaN;
  #secondText = '';

  /** `now`: wall-clock time. */
  constructor(sink: LineSink, now: () => number = Date.now) {
    this.#sink = sink;
    this.#now = now;
  }

  add(record: RequestRecord): void {
    this.#waiting.push(this.#line(record));
    if (this.#waiting.length >= WAITING_MAX) this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(this.#onTime, WAIT_MS).unref();
  }

  /** Hands over what waits. */
  flush(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#sink.write(waiting.join(''));
  }

  readonly #onTime = (): void => {
    this.#isScheduled = false;
    this.flush();
  };

  /** As `toISOString` writes it, which is called once a second. */
  #time(): string {
    const nowMs = this.#now();
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second * 1_000).toISOString().slice(0, -MILLISECONDS_TEXT.length);
    }
    const ms = Math.floor(nowMs) - second * 1_000;
    return `${this.#secondText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
  }

  /** Texts that are constants of ours, or hex digits, need no escapes; all others get them. */
  #line(record: RequestRecord): string {
    const quoted = this.#quoted;
    return (
      `{"level":${INFO},"time":"${this.#time()}","requestId":${JSON.stringify(record.requestId)},` +
      `"method":${quoted.of(record.method)},"path":"${record.path}","status":${record.status},` +
      `"outcome":"${record.outcome}","detail":${quoted.of(record.detail)},"durationMs":${Math.round(record.durationMs * 1_000) / 1_000},` +
      `"bodyBytes":${record.bodyBytes},"replyBytes":${record.replyBytes},"tenant":${quoted.of(record.tenant)},` +
      `"entry":"${record.entry}","model":${quoted.of(record.model)},"stream":${record.stream},"msg":"request"}\n`
    );
  }
}

/** Texts in JSON, remembered: few of them make up nearly all lines. */
class QuotedTexts {
  readonly #known = new Map<string, string>();

  of(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const quoted = JSON.stringify(text);
    if (this.#known.size >= QUOTED_MAX) this.#known.clear();
    if (text.length <= QUOTED_CHARACTERS_MAX) this.#known.set(text, quoted);
    return quoted;
  }
}
