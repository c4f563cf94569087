import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser } from './sse-parser.ts';

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

interface Plain {
  readonly type: string;
  readonly data: string;
}

function parse(chunks: readonly (string | Uint8Array)[], eventBytesMax = 1_000_000): Plain[] {
  const parser = new SseParser({ eventBytesMax });
  const events = chunks.flatMap((chunk) => parser.push(typeof chunk === 'string' ? ENCODER.encode(chunk) : chunk));
  return events.map((event) => ({ type: event.type, data: DECODER.decode(event.data) }));
}

function datas(...chunks: string[]): string[] {
  return parse(chunks).map((event) => event.data);
}

describe('SseParser', () => {
  it('yields the payload of each event', () => {
    expect(datas('data: {"a":1}\n\ndata: {"b":2}\n\n')).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('takes CRLF, CR and LF as line ends', () => {
    expect(datas('data: a\r\n\r\ndata: b\r\rdata: c\n\n')).toEqual(['a', 'b', 'c']);
  });

  it('takes a CRLF that is split between two chunks as one line end', () => {
    expect(datas('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual(['a\nb']);
  });

  it('joins data lines by line feeds, empty ones too', () => {
    expect(datas('data:\ndata: x\ndata:\n\n')).toEqual(['\nx\n']);
  });

  it('removes one space after the colon and no more', () => {
    expect(datas('data:  two\n\ndata:none\n\n')).toEqual([' two', 'none']);
  });

  it('skips comments, other fields and look-alike fields', () => {
    expect(datas(': ping\n\nid: 7\nretry: 10\ndatabase: no\ndata: yes\n\n')).toEqual(['yes']);
  });

  it('takes a field without a colon as one with an empty value', () => {
    expect(datas('data\n\n')).toEqual(['']);
  });

  it('keeps the event type, for its event only', () => {
    expect(parse(['event: error\ndata: a\n\ndata: b\n\n'])).toEqual([
      { type: 'error', data: 'a' },
      { type: '', data: 'b' },
    ]);
  });

  it('skips a byte order mark at the start, split or not', () => {
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, ...ENCODER.encode('data: a\n\n')]);
    expect(parse([bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2)])).toEqual([{ type: '', data: 'a' }]);
  });

  it('keeps an event back until its blank line', () => {
    const parser = new SseParser({ eventBytesMax: 100 });
    expect(parser.push(ENCODER.encode('data: a\n'))).toEqual([]);
    expect(parser.push(ENCODER.encode('\n'))).toHaveLength(1);
  });

  it('gives what the end of the stream cut short', () => {
    const parser = new SseParser({ eventBytesMax: 100 });
    parser.push(ENCODER.encode('data: [DONE]'));
    expect(DECODER.decode(parser.end()?.data)).toBe('[DONE]');
  });

  it('refuses a line above the bound however it arrives', () => {
    const parser = new SseParser({ eventBytesMax: 10 });
    parser.push(ENCODER.encode('data: 1234'));
    expect(() => parser.push(ENCODER.encode('5'))).toThrow(expect.objectContaining({ code: 'model_invalid_answer' }));
  });

  it('refuses an event whose lines together are above the bound', () => {
    expect(() => parse(['data: 12345\n', 'data: 12345\n', 'data: 12345\n'], 12)).toThrow(/12 bytes/);
  });

  it('gives the same events however the bytes are split', () => {
    const line = fc.oneof(
      fc.constantFrom('data: {"a":"é€😀"}', 'data:', 'data', ': comment', 'event: error', 'id: 1', 'retry: 5', '', ''),
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
    );
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
      .map((lines) => ENCODER.encode(lines.map(([text, end]) => text + end).join('')));
    fc.assert(
      fc.property(stream, fc.array(fc.nat({ max: 12 }), { maxLength: 60 }), (bytes, sizes) => {
        const chunks: Uint8Array[] = [];
        let start = 0;
        for (const size of sizes) {
          chunks.push(bytes.subarray(start, start + size));
          start += size;
        }
        chunks.push(bytes.subarray(start));
        expect(parse(chunks)).toEqual(parse([bytes]));
      }),
    );
  });

  it('takes any bytes without failing', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), (chunks) => {
        const parser = new SseParser({ eventBytesMax: 1_000 });
        for (const chunk of chunks) parser.push(chunk);
        parser.end();
      }),
    );
  });
});
