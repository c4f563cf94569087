import { ModelError } from '../errors.ts';
import { parseJson } from '../cache/json.ts';
import type { Model, ModelCallOptions, ModelReply, ModelRequest, ModelStream } from '../ports/model.ts';
import type { SemanticMatcher } from '../semantic/semantic-matcher.ts';
import { inputItems } from './embedding-items.ts';

const DEPTH_MAX = 16;

/** The node's own embedder behind `/v1/embeddings`. Texts only; longer than the window is refused, never cut in silence. */
export class LocalEmbeddingModel implements Model {
  readonly #embedder: SemanticMatcher;
  readonly #name: string;

  constructor(embedder: SemanticMatcher, name: string) {
    this.#embedder = embedder;
    this.#name = name;
  }

  async call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    const { texts, base64 } = this.#texts(request);
    const embedded = await this.#embedder.embed(texts, options);
    let tokens = 0;
    const data = embedded.map((embedding, index) => {
      if (embedding.truncated) {
        throw refused(
          `Item ${index} has ${embedding.tokenCount} tokens, more than the embedder's window; shorten it.`,
          'input',
        );
      }
      tokens += embedding.tokenCount;
      const vector = base64 ? base64Of(embedding.vector) : [...embedding.vector];
      return { object: 'embedding', index, embedding: vector };
    });
    const answer = { object: 'list', data, model: this.#name, usage: { prompt_tokens: tokens, total_tokens: tokens } };
    return { status: 200, contentType: 'application/json', body: new TextEncoder().encode(JSON.stringify(answer)) };
  }

  stream(): Promise<ModelStream> {
    return Promise.reject(refused('Embeddings are not streamed.', 'stream'));
  }

  models(): Promise<readonly string[]> {
    return Promise.resolve([this.#name]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #texts(request: ModelRequest): { texts: string[]; base64: boolean } {
    if (request.operation !== 'embeddings') throw refused(`'${this.#name}' only makes embeddings.`, 'model');
    const body = parseJson(request.body, { depthMax: DEPTH_MAX });
    if (!(body instanceof Map)) throw refused('The body must be an object.', 'input');
    const dimensions = body.get('dimensions');
    if (dimensions !== undefined && dimensions !== null)
      throw refused('This embedder has one size only; leave out dimensions.', 'dimensions');
    const texts = inputItems(body).map((item) => {
      if (typeof item !== 'string') throw refused('This embedder takes texts, not tokens.', 'input');
      if (item.trim() === '') throw refused('An input text is empty.', 'input');
      return item;
    });
    return { texts, base64: body.get('encoding_format') === 'base64' };
  }
}

/** A refusal in the shape in which an upstream would send it. */
function refused(message: string, param: string): ModelError {
  const error = { message, type: 'invalid_request_error', param, code: 'invalid_request' };
  const body = new TextEncoder().encode(JSON.stringify({ error }));
  return new ModelError('model_error', message, { status: 400, body, contentType: 'application/json', param });
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Little-endian float32, base64 with padding (RFC 4648 §4). */
function base64Of(vector: Float32Array): string {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  vector.forEach((value, index) => view.setFloat32(index * 4, value, true));
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const word = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += ALPHABET[(word >> 18) & 63]! + ALPHABET[(word >> 12) & 63]!;
    text += left > 1 ? ALPHABET[(word >> 6) & 63]! : '=';
    text += left > 2 ? ALPHABET[word & 63]! : '=';
  }
  return text;
}
