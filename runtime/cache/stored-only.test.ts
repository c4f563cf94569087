import { describe, expect, it } from 'vitest';
import type { Operation } from '../ports/model.ts';
import { frameEvent } from './event-framing.ts';
import { isStorable, readUsage, summarizeAnswer } from './stored-only.ts';

const encoder = new TextEncoder();

function body(answer: unknown): Uint8Array {
  return encoder.encode(typeof answer === 'string' ? answer : JSON.stringify(answer));
}

function recording(...events: unknown[]): Uint8Array {
  return Uint8Array.from(events.flatMap((event) => [...frameEvent(body(event))]));
}

const message = { role: 'assistant', content: 'Hi' };
const choice = { index: 0, message, finish_reason: 'stop' };
const chunk = (finish_reason: string | null, index = 0): object => ({
  choices: [{ index, delta: { content: 'Hi' }, finish_reason }],
});

describe('whole answers', () => {
  it.each([
    ['one choice', 'chat.completions', { choices: [choice] }],
    ['cut at max_tokens', 'chat.completions', { choices: [{ ...choice, finish_reason: 'length' }] }],
    ['tool calls', 'chat.completions', { choices: [{ ...choice, finish_reason: 'tool_calls' }] }],
    ['error null', 'chat.completions', { error: null, choices: [choice] }],
    ['text', 'completions', { choices: [{ index: 0, text: '', finish_reason: 'stop' }] }],
    [
      'embeddings',
      'embeddings',
      {
        data: [
          { index: 1, embedding: [1] },
          { index: 0, embedding: 'AAAA' },
        ],
      },
    ],
  ] as const)('are stored: %s', (_name, operation, answer) => {
    expect(isStorable(operation, 'body', body(answer))).toBe(true);
  });

  it.each([
    ['not JSON', 'malformed', 'chat.completions', '<html>'],
    ['no object', 'malformed', 'chat.completions', '[]'],
    ['an error', 'error', 'chat.completions', { error: { message: 'x' }, choices: [choice] }],
    ['an object that is an error', 'error', 'chat.completions', { object: 'error', choices: [choice] }],
    ['a choice that stands twice', 'miscounted', 'chat.completions', { choices: [choice, choice] }],
    ['a choice missing', 'miscounted', 'chat.completions', { choices: [{ ...choice, index: 1 }] }],
    ['half an index', 'miscounted', 'chat.completions', { choices: [{ ...choice, index: 0.5 }] }],
    ['no choices', 'malformed', 'chat.completions', {}],
    ['empty choices', 'empty', 'chat.completions', { choices: [] }],
    ['no message', 'malformed', 'chat.completions', { choices: [{ finish_reason: 'stop' }] }],
    ['no end', 'unfinished', 'chat.completions', { choices: [choice, { ...choice, finish_reason: null }] }],
    ['a filter', 'filtered', 'chat.completions', { choices: [choice, { ...choice, finish_reason: 'content_filter' }] }],
    ['an unknown end', 'filtered', 'chat.completions', { choices: [{ ...choice, finish_reason: 'abort' }] }],
    ['no text', 'malformed', 'completions', { choices: [choice] }],
    ['no vectors', 'empty', 'embeddings', { data: [] }],
    ['an empty vector', 'malformed', 'embeddings', { data: [{ index: 0, embedding: [] }] }],
    ['a doubled index', 'miscounted', 'embeddings', { data: [0, 0].map((index) => ({ index, embedding: [1] })) }],
    ['a missing index', 'miscounted', 'embeddings', { data: [{ embedding: [1] }] }],
    ['an index too high', 'miscounted', 'embeddings', { data: [{ index: 1, embedding: [1] }] }],
  ] as const)('are not stored: %s', (_name, refusal, operation, answer) => {
    expect(summarizeAnswer(operation, 'body', body(answer)).refusal).toBe(refusal);
  });
});

describe('recorded streams', () => {
  it.each([
    ['one choice', [chunk(null), chunk('stop')]],
    ['two choices', [chunk(null, 1), chunk('stop', 0), chunk('stop', 1)]],
    ['usage last', [chunk('stop'), { choices: [], usage: { prompt_tokens: 1 } }]],
    ['an extension first', [{ prompt_filter_results: [] }, chunk('stop')]],
    [
      'the end said twice',
      [chunk('stop'), { choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }] }],
    ],
  ])('are stored: %s', (_name, events) => {
    expect(isStorable('chat.completions', 'stream', recording(...events))).toBe(true);
  });

  it.each([
    ['nothing', 'empty', recording()],
    ['no choice', 'empty', recording({ choices: [] })],
    ['a choice that never ended', 'unfinished', recording(chunk('stop', 0), chunk(null, 1))],
    ['a filter', 'filtered', recording(chunk('content_filter'))],
    ['an error', 'error', recording(chunk(null), { error: { message: 'x' } }, chunk('stop'))],
    ['an object that is an error', 'error', recording(chunk('stop'), { object: 'error', message: 'x' })],
    ['a filter, then an end', 'filtered', recording(chunk('content_filter'), { choices: [{ finish_reason: 'stop' }] })],
    ['an end, then a filter', 'filtered', recording(chunk('stop'), { choices: [{ finish_reason: 'content_filter' }] })],
    ['two ends', 'malformed', recording(chunk('stop'), { choices: [{ finish_reason: 'length' }] })],
    ['text after the end', 'malformed', recording(chunk('stop'), chunk(null))],
    ['a delta that is no object', 'malformed', recording({ choices: [{ index: 0, delta: 5, finish_reason: 'stop' }] })],
    ['usage twice', 'malformed', recording(chunk('stop'), ...[1, 2].map(() => ({ choices: [], usage: {} })))],
    ['a choice missing', 'miscounted', recording(chunk('stop', 1))],
    ['half an index', 'miscounted', recording(chunk('stop', 0), chunk('stop', 0.5))],
    ['not JSON', 'malformed', recording(chunk('stop'), '{"choices":')],
    ['a cut', 'malformed', recording(chunk('stop')).subarray(0, -1)],
  ] as const)('are not stored: %s', (_name, refusal, payload) => {
    expect(summarizeAnswer('chat.completions', 'stream', payload).refusal).toBe(refusal);
  });

  it('are never embeddings', () => {
    expect(isStorable('embeddings', 'stream', recording(chunk('stop')))).toBe(false);
  });
});

describe('the number of choices asked for', () => {
  const answers = [
    ['body', body({ choices: [choice, { ...choice, index: 1 }] })],
    ['stream', recording(chunk('stop', 1), chunk('stop', 0))],
  ] as const;

  it.each(answers)('decides whether a %s is stored', (kind, payload) => {
    const refusals = [1, 2, 3, undefined].map((n) => summarizeAnswer('chat.completions', kind, payload, n).refusal);
    expect(refusals).toEqual(['miscounted', '', 'miscounted', '']);
  });

  it('says nothing of embeddings', () => {
    const payload = body({ data: [0, 1].map((index) => ({ index, embedding: [1] })) });
    expect(summarizeAnswer('embeddings', 'body', payload, 1).refusal).toBe('');
  });
});

describe('what an answer reports', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

  it.each([
    ['chat.completions', 'body', body({ choices: [choice], usage })],
    ['chat.completions', 'stream', recording({ ...chunk(null), usage: null }, chunk('stop'), { choices: [], usage })],
    ['chat.completions', 'stream', recording({ choices: [], usage })],
    ['completions', 'stream', recording({ ...chunk('stop'), usage })],
  ] as [Operation, 'body' | 'stream', Uint8Array][])('usage of %s by %s', (operation, kind, payload) => {
    expect(readUsage(operation, kind, payload)).toEqual({ promptTokens: 5, completionTokens: 7 });
  });

  it.each([
    ['none', { choices: [choice] }],
    ['null', { choices: [choice], usage: null }],
    ['nonsense', { choices: [choice], usage: { prompt_tokens: '5', completion_tokens: -1 } }],
    ['not JSON', 'x'],
  ])('no usage: %s', (_name, answer) => {
    expect(readUsage('chat.completions', 'body', body(answer))).toEqual({ promptTokens: 0, completionTokens: 0 });
  });

  it('model and fingerprint', () => {
    const answer = { model: 'm-2', system_fingerprint: 'fp' };
    const whole = summarizeAnswer('chat.completions', 'body', body({ ...answer, choices: [choice] }));
    const streamed = summarizeAnswer('chat.completions', 'stream', recording({ ...answer, ...chunk('stop') }));
    expect([whole.model, whole.systemFingerprint]).toEqual(['m-2', 'fp']);
    expect([streamed.model, streamed.systemFingerprint]).toEqual(['m-2', 'fp']);
  });
});
