/** A half-open range of bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const PREFIX = encoder.encode('data: ');

/** One server-sent event, framed: `data: <event>\n\n`. An event of several lines gets a prefix on each. */
export function frameEvent(event: Uint8Array): Uint8Array {
  if (event.includes(LINE_FEED) || event.includes(CARRIAGE_RETURN)) return frameLines(event);
  const framed = new Uint8Array(event.length + PREFIX.length + 2);
  framed.set(PREFIX);
  framed.set(event, PREFIX.length);
  framed[framed.length - 2] = LINE_FEED;
  framed[framed.length - 1] = LINE_FEED;
  return framed;
}

/** Where each event of a recording stands, framing included; undefined when the recording doesn't end with an event's end. */
export function eventRanges(recording: Uint8Array): readonly ByteRange[] | undefined {
  const ranges: ByteRange[] = [];
  let start = 0;
  let at = recording.indexOf(LINE_FEED);
  while (at >= 0) {
    if (recording[at + 1] === LINE_FEED) {
      ranges.push({ start, end: at + 2 });
      start = at + 2;
      at = recording.indexOf(LINE_FEED, start);
    } else at = recording.indexOf(LINE_FEED, at + 1);
  }
  return start === recording.length ? ranges : undefined;
}

/** The data of one framed event: a view where it is a single line. */
export function eventData(recording: Uint8Array, range: ByteRange): Uint8Array {
  const lineEnd = recording.indexOf(LINE_FEED, range.start);
  const from = range.start + prefixLength(recording, range.start);
  if (lineEnd === range.end - 2) return recording.subarray(from, lineEnd);
  const lines = decoder.decode(recording.subarray(range.start, range.end - 2)).split('\n');
  return encoder.encode(lines.map((line) => line.replace(/^data: ?/, '')).join('\n'));
}

function prefixLength(bytes: Uint8Array, at: number): number {
  let length = 0;
  while (length < PREFIX.length && bytes[at + length] === PREFIX[length]) length++;
  return length >= PREFIX.length - 1 ? length : 0;
}

function frameLines(event: Uint8Array): Uint8Array {
  const lines = decoder.decode(event).split(/\r\n|\r|\n/);
  return encoder.encode(`${lines.map((line) => `data: ${line}`).join('\n')}\n\n`);
}
