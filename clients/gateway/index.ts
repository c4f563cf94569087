export {
  BUCKET_MAX,
  CONTROL_FIELDS,
  CONTROL_HEADERS,
  TAGS_MAX,
  checkedControls,
  controlsFromHeaders,
} from './controls.ts';
export { TTL_MS_MAX } from '../../runtime/ports/names.ts';
export type { ControlFields, ControlNames, RequestHeaders } from './controls.ts';
export { Answers } from './answers.ts';
export type { AnswerOptions, EdgeAnswer } from './answers.ts';
export { DirectEdge } from './direct-edge.ts';
export { Edge, exchangeOf, identityOf, strayExchange } from './edge.ts';
export type { EdgeOptions, EdgeRoute } from './edge.ts';
export { edgeError, errorJson, errorReply } from './error-reply.ts';
export type { ErrorReply } from './error-reply.ts';
export { Exchange, LiveRequest } from './exchange.ts';
export type { ExchangeEnd, RequestRecord, ResolveIdentity } from './exchange.ts';
export { DirectTarget } from './reply-target.ts';
export type { ReplyTarget } from './reply-target.ts';
export { repriseGateway } from './gateway.ts';
export type { GatewayOptions } from './gateway.ts';
export { remoteService } from './remote-service.ts';
export type { RemoteServiceOptions } from './remote-service.ts';
export { repeatedMember, topLevelMember } from './member-scan.ts';
export type { ByteRange } from './member-scan.ts';
