import { RepriseError } from '../errors.ts';
import type { Operation } from '../ports/model.ts';

/** Where an upstream is: its origin, and the path and query of each operation. */
export interface UpstreamUrl {
  readonly origin: string;
  readonly modelsPath: string;
  path(operation: Operation): string;
}

const OPERATION_PATHS: Readonly<Record<Operation, string>> = {
  'chat.completions': '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
};

/** A path segment that names an API version: then the path is the base as it stands. */
const VERSION_SEGMENT = /^v\d+[a-z]*\d*$/;

/**
 * An upstream's base URL, understood. `/v1` is added unless the path has a version segment (`/v1`, `/v1beta/openai`); a query
 * is kept on every call. Errors: `config_invalid` (not http or https, or with a user name or password in it).
 */
export function parseUpstreamUrl(url: string): UpstreamUrl {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new RepriseError('config_invalid', 'The URL of an upstream must start with http:// or https://.');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new RepriseError(
      'config_invalid',
      'The URL of an upstream must not hold a credential; give it as the API key.',
    );
  }
  const segments = parsed.pathname.split('/').filter((segment) => segment !== '');
  if (!segments.some((segment) => VERSION_SEGMENT.test(segment))) segments.push('v1');
  const base = `/${segments.join('/')}`;
  const paths = new Map<Operation, string>();
  for (const [operation, path] of Object.entries(OPERATION_PATHS) as [Operation, string][]) {
    paths.set(operation, `${base}${path}${parsed.search}`);
  }
  return {
    origin: parsed.origin,
    modelsPath: `${base}/models${parsed.search}`,
    path: (operation) => paths.get(operation) ?? base,
  };
}
