import { describe, expect, it } from 'vitest';
import { parseUpstreamUrl } from './upstream-url.ts';

describe('parseUpstreamUrl', () => {
  it.each([
    ['http://127.0.0.1:8000', '/v1/chat/completions'],
    ['http://127.0.0.1:8000/', '/v1/chat/completions'],
    ['https://api.example.com/v1', '/v1/chat/completions'],
    ['https://api.example.com/v1/', '/v1/chat/completions'],
    ['https://example.com/openai/v1', '/openai/v1/chat/completions'],
    ['https://example.com/v1beta/openai', '/v1beta/openai/chat/completions'],
    ['https://example.com/proxy', '/proxy/v1/chat/completions'],
    ['https://example.com/v1?api-version=2', '/v1/chat/completions?api-version=2'],
  ])('leads %s to %s', (url, path) => {
    expect(parseUpstreamUrl(url).path('chat.completions')).toBe(path);
  });

  it('knows every operation and the list of models', () => {
    const url = parseUpstreamUrl('http://localhost:1');
    expect([url.path('completions'), url.path('embeddings'), url.modelsPath]).toEqual([
      '/v1/completions',
      '/v1/embeddings',
      '/v1/models',
    ]);
  });

  it.each(['', 'api.example.com', 'ftp://example.com', 'http://user:secret@example.com'])('refuses "%s"', (url) => {
    expect(() => parseUpstreamUrl(url)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });

  it('names no credential in its refusal', () => {
    expect(() => parseUpstreamUrl('http://user:secret@example.com')).toThrow(/^(?!.*secret)/);
  });
});
