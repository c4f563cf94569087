import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { RepriseError } from '../../runtime/errors.ts';
import type { InferenceService } from '../../runtime/ports/service.ts';
import { Edge, exchangeOf, identityOf } from './edge.ts';
import type { EdgeOptions } from './edge.ts';
import { INFERENCE_ROUTES, answerInference } from './inference-route.ts';

/** What the gateway plugin is told. */
export interface GatewayOptions extends EdgeOptions {
  readonly service: InferenceService;
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
        (names) => edge.sendJson(request, { object: 'list', data: names.map(modelObject) }),
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
          if (names.includes(name)) edge.sendJson(request, modelObject(name));
          else edge.fail(request, reply, notFound(names));
        },
        (error: unknown) => edge.fail(request, reply, error),
      );
    },
  });
}

function installGateway(instance: FastifyInstance, options: GatewayOptions, done: () => void): void {
  const edge = new Edge(instance, options);
  const parts = { answers: edge.answers, service: options.service };
  for (const [path, operation] of INFERENCE_ROUTES) {
    edge.add({
      method: 'POST',
      path,
      handler: (request) =>
        answerInference(parts, exchangeOf(request), operation, request.body as Uint8Array | null | undefined),
    });
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
