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
  ])('are stored: %s', (_name, events) => {
    expect(isStorable('chat.completions', 'stream', recording(...events))).toBe(true);
  });

  it.each([
    ['nothing', 'empty', recording()],
    ['no choice', 'empty', recording({ choices: [] })],
    ['a choice that never ended', 'unfinished', recording(chunk('stop', 0), chunk(null, 1))],
    ['a filter', 'filtered', recording(chunk('content_filter'))],
    ['an error', 'error', recording(chunk(null), { error: { message: 'x' } }, chunk('stop'))],
    ['not JSON', 'malformed', recording(chunk('stop'), '{"choices":')],
    ['a cut', 'malformed', recording(chunk('stop')).subarray(0, -1)],
  ] as const)('are not stored: %s', (_name, refusal, payload) => {
    expect(summarizeAnswer('chat.completions', 'stream', payload).refusal).toBe(refusal);
  });

  it('are never embeddings', () => {
    expect(isStorable('embeddings', 'stream', recording(chunk('stop')))).toBe(false);
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
