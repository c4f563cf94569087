import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { RepriseError } from '../../runtime/errors.ts';
import type { Operation } from '../../runtime/ports/model.ts';
import type { InferenceReply, InferenceService } from '../../runtime/ports/service.ts';
import { controlsFromHeaders } from './controls.ts';
import { Edge, exchangeOf, identityOf } from './edge.ts';
import type { EdgeOptions } from './edge.ts';
import { LiveRequest } from './exchange.ts';
import { asksForStream } from './member-scan.ts';

/** What the gateway plugin is told. */
export interface GatewayOptions extends EdgeOptions {
  readonly service: InferenceService;
}

const INFERENCE_ROUTES: readonly (readonly [string, Operation])[] = [
  ['/v1/chat/completions', 'chat.completions'],
  ['/v1/completions', 'completions'],
  ['/v1/embeddings', 'embeddings'],
];

function inferenceHandler(edge: Edge, service: InferenceService, operation: Operation): RouteHandlerMethod {
  const mayStream = operation !== 'embeddings';
  return (request, reply): void => {
    const body = request.body as Uint8Array | null | undefined;
    if (body === null || body === undefined) {
      edge.fail(request, reply, new RepriseError('empty_body', 'The body is empty.'));
      return;
    }
    const exchange = exchangeOf(request);
    exchange.bodyBytes = body.length;
    const onFailure = (error: unknown): void => edge.fail(request, reply, error);
    // One promise less than a `catch` behind each `then`.
    const orFail = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        onFailure(error);
      }
    };
    orFail(() => {
      const controls = controlsFromHeaders(request.raw.headers);
      const live = new LiveRequest(
        { operation, body, identity: identityOf(request), controls },
        request.raw,
        reply.raw,
      );
      if (mayStream && asksForStream(body)) {
        exchange.stream = true;
        service.inferStream(live).then((stream) => orFail(() => edge.relay(request, reply, stream)), onFailure);
      } else {
        service.infer(live).then((answer) => orFail(() => sendAnswer(edge, request, reply, answer)), onFailure);
      }
    });
  };
}

function sendAnswer(edge: Edge, request: FastifyRequest, reply: FastifyReply, answer: InferenceReply): void {
  edge.succeed(request, reply, { contentType: answer.contentType, body: answer.body, cacheStatus: answer.status });
}

function modelObject(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'reprise' };
}

function addModelRoutes(edge: Edge, service: InferenceService): void {
  edge.add({
    method: 'GET',
    path: '/v1/models',
    handler: (request, reply) => {
      service.models(identityOf(request)).then(
        (names) => edge.sendJson(request, reply, { object: 'list', data: names.map(modelObject) }),
        (error: unknown) => edge.fail(request, reply, error),
      );
    },
  });
  edge.add({
    method: 'GET',
    path: '/v1/models/*',
    handler: (request, reply) => {
      const name = (request.params as { '*': string })['*'];
      const notFound = (names: readonly string[]): RepriseError =>
        new RepriseError(
          'model_not_found',
          `There is no model ${JSON.stringify(name)}; there is ${names.join(', ')}.`,
          {
            param: 'model',
          },
        );
      service.models(identityOf(request)).then(
        (names) => {
          if (names.includes(name)) edge.sendJson(request, reply, modelObject(name));
          else edge.fail(request, reply, notFound(names));
        },
        (error: unknown) => edge.fail(request, reply, error),
      );
    },
  });
}

function installGateway(instance: FastifyInstance, options: GatewayOptions, done: () => void): void {
  const edge = new Edge(instance, options);
  for (const [path, operation] of INFERENCE_ROUTES) {
    edge.add({ method: 'POST', path, handler: inferenceHandler(edge, options.service, operation) });
  }
  addModelRoutes(edge, options.service);
  done();
}

/**
 * The OpenAI-compatible routes over a service, as a Fastify plugin: chat completions, completions, embeddings, models.
 * It keeps to itself: body parsers and error handler don't reach the host's other routes; `prefix` is Fastify's own.
 */
export const repriseGateway = fastifyPlugin(installGateway, {
  name: 'reprise-gateway',
  fastify: '5.x',
  encapsulate: true,
});
