import { RepriseError } from '../../runtime/errors.ts';
import type { Operation } from '../../runtime/ports/model.ts';
import type { InferenceService } from '../../runtime/ports/service.ts';
import type { Answers } from './answers.ts';
import { controlsFromHeaders } from './controls.ts';
import { LiveRequest, type Exchange } from './exchange.ts';
import { asksForStream } from './member-scan.ts';

/** The inference routes: path and operation. */
export const INFERENCE_ROUTES: readonly (readonly [string, Operation])[] = [
  ['/v1/chat/completions', 'chat.completions'],
  ['/v1/completions', 'completions'],
  ['/v1/embeddings', 'embeddings'],
];

/** Answers one inference request whose sender is known and whose body was read. */
export function answerInference(
  parts: { readonly answers: Answers; readonly service: InferenceService },
  exchange: Exchange,
  operation: Operation,
  body: Uint8Array | null | undefined,
): void {
  const { answers, service } = parts;
  const onFailure = (error: unknown): void => answers.fail(exchange, error);
  // One promise less than a `catch` behind each `then`.
  const orFail = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      onFailure(error);
    }
  };
  orFail(() => {
    if (body === null || body === undefined) throw new RepriseError('empty_body', 'The body is empty.');
    const { incoming, raw } = exchange.target;
    exchange.bodyBytes = body.length;
    const identity = exchange.knownIdentity;
    const live = new LiveRequest(
      { operation, body, identity, controls: controlsFromHeaders(incoming.headers) },
      incoming,
      raw,
    );
    if (operation !== 'embeddings' && asksForStream(body)) {
      exchange.stream = true;
      service.inferStream(live).then((stream) => orFail(() => answers.relay(exchange, stream)), onFailure);
      return;
    }
    service
      .infer(live)
      .then(
        ({ contentType, body: answer, status: cacheStatus }) =>
          orFail(() => answers.succeed(exchange, { contentType, body: answer, cacheStatus })),
        onFailure,
      );
  });
}
