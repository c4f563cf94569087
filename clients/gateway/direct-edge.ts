import type { IncomingMessage, ServerResponse } from 'node:http';
import { RepriseError } from '../../runtime/errors.ts';
import type { Operation } from '../../runtime/ports/model.ts';
import { Answers } from './answers.ts';
import { BODY_BYTES_MAX, hasBody, readBody } from './body-reader.ts';
import type { GatewayOptions } from './gateway.ts';
import { Exchange } from './exchange.ts';
import { INFERENCE_ROUTES, answerInference } from './inference-route.ts';
import { DirectTarget } from './reply-target.ts';

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(INFERENCE_ROUTES);

/**
 * The inference routes on a bare `node:http` server: what the plugin does on a Fastify instance, without the
 * framework's share of a request. Everything else is left to whoever comes next.
 */
export class DirectEdge {
  readonly #options: GatewayOptions;
  readonly #answers: Answers;
  readonly #bytesMax: number;
  readonly #requestIdOf: (incoming: IncomingMessage) => string;

  constructor(options: GatewayOptions, requestIdOf: (incoming: IncomingMessage) => string) {
    this.#options = options;
    this.#answers = new Answers(options);
    this.#bytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
    this.#requestIdOf = requestIdOf;
  }

  /** True when the request is one of these routes, which are then answered; false: it was not touched. */
  handle(incoming: IncomingMessage, response: ServerResponse): boolean {
    if (incoming.method !== 'POST') return false;
    const path = incoming.url ?? '';
    const operation = OPERATIONS.get(path);
    if (operation === undefined) return false;
    const requestId = this.#requestIdOf(incoming);
    const exchange = new Exchange(new DirectTarget(incoming, response), { requestId, method: 'POST', path });
    exchange.target.set('x-request-id', requestId);
    exchange.identify(this.#options.resolveIdentity, (error) => {
      if (error === undefined) this.#read(exchange, operation);
      else this.#answers.fail(exchange, error);
    });
    return true;
  }

  #read(exchange: Exchange, operation: Operation): void {
    const { incoming } = exchange.target;
    if (!hasBody(incoming)) {
      this.#answers.fail(exchange, new RepriseError('empty_body', 'The body is empty.'));
      return;
    }
    readBody(incoming, this.#bytesMax, (error, body) => {
      if (error !== null) this.#answers.fail(exchange, error);
      else answerInference({ answers: this.#answers, service: this.#options.service }, exchange, operation, body);
    });
  }
}
