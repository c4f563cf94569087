import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import {
  exchangeOf,
  identityOf,
  LiveRequest,
  controlsFromHeaders,
  repeatedMember,
  topLevelMember,
} from '../../clients/gateway/index.ts';
import type { Edge } from '../../clients/gateway/index.ts';
import { RepriseError } from '../errors.ts';
import type { Operation } from '../ports/model.ts';
import type { Recordings } from '../ports/recording.ts';
import type {
  FeedbackRequest,
  Identity,
  InferenceRequest,
  InferenceService,
  InvalidateRequest,
  InvalidationTarget,
  LookupReply,
  Role,
} from '../ports/service.ts';
import type { Transfer } from '../ports/transfer.ts';
import { sendRecording, STREAMED } from './recording-stream.ts';
import { EXPORT_MEMBERS, exportDocument, exportRequest, IMPORT_MEMBERS, importRequest } from './transfer-json.ts';

/** What the admin routes serve. */
export interface AdminDependencies {
  readonly service: InferenceService;
  /** The effective configuration with its origins, secrets left out. */
  readonly describeConfig?: () => unknown;
  /** Absent: nothing can be recorded. */
  readonly recordings?: Recordings;
  /** Absent: nothing can be carried in or out. */
  readonly transfer?: Transfer;
}

type AdminAction = (request: FastifyRequest, identity: Identity, reply: FastifyReply) => unknown;

const RANKS: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2 };
const OPERATIONS: readonly Operation[] = ['chat.completions', 'completions', 'embeddings'];
const BODY_MEMBER = new TextEncoder().encode('body');

function invalid(param: string, message: string): RepriseError {
  return new RepriseError('invalid_request', message, { param });
}

function bytesOf(request: FastifyRequest): Uint8Array {
  const body = request.body as Uint8Array | null | undefined;
  if (body === null || body === undefined) throw new RepriseError('empty_body', 'The body is empty.');
  exchangeOf(request).bodyBytes = body.length;
  return body;
}

/** The request's JSON object, of known members only: an unknown one is a mistake that must not pass unseen. */
function documentOf(bytes: Uint8Array, known: readonly string[]): ReadonlyMap<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new RepriseError('invalid_json', 'The body is not valid JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new RepriseError('invalid_request', 'The body must be a JSON object.');
  }
  const twice = repeatedMember(bytes);
  if (twice !== undefined) {
    throw new RepriseError('duplicate_member', `The member ${twice} appears twice.`, { param: twice });
  }
  const members = new Map<string, unknown>(Object.entries(parsed));
  for (const name of members.keys()) {
    if (!known.includes(name))
      throw invalid(name, `There is no field ${JSON.stringify(name)}; there is ${known.join(', ')}.`);
  }
  return members;
}

function textMember(members: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = members.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw invalid(name, `${name} must be a string that isn't empty.`);
  return value;
}

function flagMember(members: ReadonlyMap<string, unknown>, name: string): boolean {
  const value = members.get(name) ?? false;
  if (typeof value !== 'boolean') throw invalid(name, `${name} must be true or false.`);
  return value;
}

/** Target of an invalidation; a tag or namespace may name the tenant that it belongs to. */
function targetOf(members: ReadonlyMap<string, unknown>): { target: InvalidationTarget; tenant?: string } {
  const entryId = textMember(members, 'entry');
  const tag = textMember(members, 'tag');
  const namespace = textMember(members, 'namespace');
  const model = textMember(members, 'model');
  const tenant = textMember(members, 'tenant');
  const targets: InvalidationTarget[] = [];
  if (entryId !== undefined) targets.push({ kind: 'entry', entryId });
  if (tag !== undefined) targets.push({ kind: 'tag', tag });
  if (namespace !== undefined) targets.push({ kind: 'namespace', namespace });
  if (model !== undefined) targets.push({ kind: 'model', model });
  if (targets.length === 0 && tenant !== undefined) return { target: { kind: 'tenant', tenant } };
  const [target] = targets;
  if (target === undefined || targets.length > 1) {
    throw new RepriseError('invalid_request', 'Name exactly one of entry, tag, namespace, model and tenant.');
  }
  return tenant === undefined ? { target } : { target, tenant };
}

function invalidateRequest(request: FastifyRequest, identity: Identity): InvalidateRequest {
  const members = documentOf(bytesOf(request), ['entry', 'tag', 'namespace', 'model', 'tenant', 'soft', 'purge']);
  const { target, tenant } = targetOf(members);
  return {
    target,
    invalidation: flagMember(members, 'soft') ? 'soft' : 'hard',
    purge: flagMember(members, 'purge'),
    identity,
    ...(tenant !== undefined && { tenant }),
  };
}

function feedbackRequest(request: FastifyRequest, identity: Identity): FeedbackRequest {
  const members = documentOf(bytesOf(request), ['entry', 'verdict', 'askedText', 'storedText', 'tenant', 'note']);
  const entryId = textMember(members, 'entry');
  const storedText = textMember(members, 'storedText');
  const tenant = textMember(members, 'tenant');
  if (entryId === undefined && (storedText === undefined || !members.has('askedText'))) {
    throw invalid('entry', 'entry must name the entry, as in x-reprise-entry; or storedText and askedText the pair.');
  }
  const verdict = members.get('verdict');
  if (verdict !== 'wrong' && verdict !== 'right') throw invalid('verdict', 'verdict must be "wrong" or "right".');
  const askedText = textMember(members, 'askedText');
  const note = textMember(members, 'note');
  return {
    identity,
    entryId: entryId ?? '',
    verdict,
    ...(askedText !== undefined && { askedText }),
    ...(storedText !== undefined && { storedText }),
    ...(tenant !== undefined && { tenant }),
    ...(note !== undefined && { note }),
  };
}

/** The inference request inside `{operation, body}`; an object's bytes are taken as sent, since parsing would round its numbers. */
function nestedRequest(request: FastifyRequest, identity: Identity, reply: FastifyReply): InferenceRequest {
  const bytes = bytesOf(request);
  const members = documentOf(bytes, ['operation', 'body']);
  const named = members.get('operation') ?? 'chat.completions';
  const operation = OPERATIONS.find((one) => one === named);
  if (operation === undefined) throw invalid('operation', `operation must be one of ${OPERATIONS.join(', ')}.`);
  const value = members.get('body');
  const range = topLevelMember(bytes, BODY_MEMBER);
  let body: Uint8Array;
  if (typeof value === 'string') body = new TextEncoder().encode(value);
  else if (typeof value === 'object' && value !== null && range !== undefined)
    body = bytes.subarray(range.start, range.end);
  else throw invalid('body', 'body must be the request to look at: an object, or its JSON text.');
  const controls = controlsFromHeaders(request.raw.headers);
  return new LiveRequest({ operation, body, identity, controls }, request.raw, reply.raw);
}

/** A stored answer as one document; JSON is embedded as stored, since parsing would round its numbers. */
function lookupDocument(found: LookupReply): string {
  const text = new TextDecoder().decode(found.body);
  const body = found.contentType.startsWith('application/json') ? text : JSON.stringify(text);
  return `{"status":${JSON.stringify(found.status)},"contentType":${JSON.stringify(found.contentType)},"body":${body}}`;
}

function adminHandler(edge: Edge, role: Role, action: AdminAction): RouteHandlerMethod {
  return async (request, reply) => {
    try {
      const identity = identityOf(request);
      if (RANKS[identity.role] < RANKS[role]) {
        throw new RepriseError(
          'permission_denied',
          `This needs the role ${role}; the credential has ${identity.role}.`,
        );
      }
      const document = await action(request, identity, reply);
      if (document === STREAMED) return reply;
      if (typeof document === 'string') {
        edge.succeed(request, { contentType: 'application/json', body: Buffer.from(document) });
      } else edge.sendJson(request, document);
    } catch (error) {
      edge.fail(request, reply, error);
    }
    return reply;
  };
}

/** Adds `/admin/…`: each route asks for a role, takes and gives JSON, and has the fields of the service interface. */
export function addAdminRoutes(edge: Edge, dependencies: AdminDependencies): void {
  const { service, describeConfig, recordings, transfer } = dependencies;
  const add = (method: 'GET' | 'POST', path: string, role: Role, action: AdminAction): void =>
    edge.add({ method, path, handler: adminHandler(edge, role, action) });
  add('POST', '/admin/invalidate', 'write', (request, identity) =>
    service.invalidate(invalidateRequest(request, identity)),
  );
  add('POST', '/admin/feedback', 'write', async (request, identity) => {
    await service.feedback(feedbackRequest(request, identity));
    return { accepted: true };
  });
  add('POST', '/admin/explain', 'read', (request, identity, reply) =>
    service.explain(nestedRequest(request, identity, reply)),
  );
  add('POST', '/admin/lookup', 'read', async (request, identity, reply) =>
    lookupDocument(await service.lookup(nestedRequest(request, identity, reply))),
  );
  add('GET', '/admin/stats', 'write', (_request, identity) => service.stats(identity));
  if (recordings !== undefined) {
    add('GET', '/admin/recording', 'admin', () => recordings.status());
    add('POST', '/admin/record', 'admin', (request) => {
      const members = documentOf(bytesOf(request), ['texts', 'vectors']);
      const terms = { texts: flagMember(members, 'texts'), vectors: flagMember(members, 'vectors') };
      return sendRecording(edge, request, recordings.start(terms));
    });
  }
  if (transfer !== undefined) {
    add('GET', '/admin/transfer', 'admin', () => transfer.terms());
    add('POST', '/admin/export', 'admin', async (request) =>
      exportDocument(await transfer.exportPage(exportRequest(documentOf(bytesOf(request), EXPORT_MEMBERS)))),
    );
    add('POST', '/admin/import', 'admin', (request) =>
      transfer.importItems(importRequest(documentOf(bytesOf(request), IMPORT_MEMBERS))),
    );
  }
  if (describeConfig !== undefined) add('GET', '/admin/config', 'admin', () => describeConfig());
}
