import type { InferenceTask } from '../embedding/inference-threads.ts';
import type { OnnxSessionOptions } from '../embedding/onnx-session.ts';

/** What a worker thread is told at its start. */
export type CrossEncoderWorkerData = OnnxSessionOptions;

export interface VerifyTask extends InferenceTask {
  readonly storedText: string;
  readonly askedText: string;
}

/** `too-long`: the pair is past the model's window, and a cut one says nothing. */
export type VerifyReply =
  | { readonly kind: 'probability'; readonly probability: number }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'given-up' };
