import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventData, eventRanges, frameEvent } from './event-framing.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function framed(text: string): string {
  return decoder.decode(frameEvent(encoder.encode(text)));
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

describe('frameEvent', () => {
  it('frames one line', () => {
    expect(framed('{"a":1}')).toBe('data: {"a":1}\n\n');
  });

  it('prefixes every line of an event', () => {
    expect(framed('{\r\n"a":1\r,\n}')).toBe('data: {\ndata: "a":1\ndata: ,\ndata: }\n\n');
  });
});

describe('eventRanges', () => {
  it('finds every event of a recording again', () => {
    const line = fc.string({ maxLength: 12, unit: 'grapheme' }).map((text) => text.replaceAll('\r', ' '));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (events) => {
        const recording = join(events.map((event) => frameEvent(encoder.encode(event))));
        const ranges = eventRanges(recording);
        expect(ranges?.map((range) => decoder.decode(eventData(recording, range)))).toEqual(events);
      }),
    );
  });

  it.each([['data: {}'], ['data: {}\n'], ['data: {}\n\ndata: {']])('is undefined for the cut recording %j', (text) => {
    expect(eventRanges(encoder.encode(text))).toBeUndefined();
  });
});
