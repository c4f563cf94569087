import { RepriseError } from '../../errors.ts';
import type { CallOptions } from '../../ports/call-options.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Verifier } from '../../ports/verifier.ts';
import {
  CHARACTERS_PER_TOKEN_MAX,
  InferenceThreads,
  OPEN_TIMEOUT_MS,
  workerBeside,
} from '../embedding/inference-threads.ts';
import type { CrossEncoderWorkerData, VerifyReply, VerifyTask } from './worker-messages.ts';

export interface CrossEncoderOptions extends CrossEncoderWorkerData {
  readonly id: string;
  readonly threads: number;
  /** Calls that may wait for a thread. */
  readonly queueMax?: number;
  /** Another worker module; for tests. */
  readonly workerUrl?: URL;
}

export interface CrossEncoderDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A cross-encoder by ONNX Runtime in worker threads. */
export class CrossEncoder implements Verifier {
  readonly id: string;
  readonly #charactersMax: number;
  readonly #threads: InferenceThreads<VerifyTask, VerifyReply>;

  private constructor(deps: CrossEncoderDeps, options: CrossEncoderOptions) {
    this.id = options.id;
    this.#charactersMax = options.windowTokens * CHARACTERS_PER_TOKEN_MAX;
    const { modelPath, tokenizerPath, windowTokens, executionProviders } = options;
    const workerData: CrossEncoderWorkerData = { modelPath, tokenizerPath, windowTokens, executionProviders };
    this.#threads = new InferenceThreads(deps.clock, {
      name: 'cross-encoder',
      task: 'verify',
      workerUrl: options.workerUrl ?? workerBeside(import.meta.url, './cross-encoder-worker.js'),
      workerData,
      threads: options.threads,
      queueMax: options.queueMax,
      onThreadEnded: (error) => {
        const message = error instanceof Error ? error.message : String(error);
        deps.telemetry.log('warn', 'verifier_thread_ended', { message });
      },
    });
  }

  /** Loads the model in every thread. Fails with `embedder_unavailable`. */
  static async open(deps: CrossEncoderDeps, options: CrossEncoderOptions): Promise<CrossEncoder> {
    const encoder = new CrossEncoder(deps, options);
    try {
      const within = { deadlineAtMs: deps.clock.monotonicMs() + OPEN_TIMEOUT_MS };
      await Promise.all(Array.from({ length: options.threads }, () => encoder.verify('a', 'b', within)));
      return encoder;
    } catch (error) {
      await encoder.close();
      throw error;
    }
  }

  async verify(storedText: string, askedText: string, options: CallOptions): Promise<number> {
    if (storedText.length + askedText.length > this.#charactersMax) return 0;
    const reply = await this.#threads.run({ storedText, askedText }, options);
    if (reply.kind === 'too-long') return 0;
    if (reply.kind === 'given-up') throw this.#threads.timeout();
    if (reply.probability >= 0 && reply.probability <= 1) return reply.probability;
    throw new RepriseError('embedder_invalid_vector', 'The cross-encoder gave no probability.');
  }

  /** Gives up what runs, waits until the threads are idle, then ends them. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}
