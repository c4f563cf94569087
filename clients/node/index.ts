export { RepriseClient, connectReprise } from './client.ts';
export type { ConnectOptions } from './client.ts';
export { RepriseClientError } from './client-error.ts';
export type { RepriseClientErrorFields, UpstreamFailure } from './client-error.ts';
export type * from './types.ts';
