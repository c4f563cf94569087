export {
  BUCKET_MAX,
  CONTROL_FIELDS,
  CONTROL_HEADERS,
  TAGS_MAX,
  TTL_MS_MAX,
  checkedControls,
  controlsFromHeaders,
} from './controls.ts';
export type { ControlFields, ControlNames, RequestHeaders } from './controls.ts';
export { Edge, exchangeOf, identityOf, repriseGateway } from './gateway.ts';
export type { EdgeRoute, GatewayOptions, ResolveIdentity } from './gateway.ts';
export { edgeError, errorJson, errorReply } from './error-reply.ts';
export type { ErrorReply } from './error-reply.ts';
export type { RequestRecord } from './exchange.ts';
export { topLevelMember } from './member-scan.ts';
export type { ByteRange } from './member-scan.ts';
