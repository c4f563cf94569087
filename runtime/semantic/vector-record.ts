import { FEATURE_VERSION, parseFeatures, serialiseFeatures } from './features.ts';
import type { Features } from './features.ts';
import type { PairSide } from './pair-side.ts';
import type { Sketch } from './sketch.ts';

/**
 * One stored vector with what the guards need. Layout 2, little-endian:
 * `u8` layout · `u8` feature version · `f64` expiry (wall clock, milliseconds; Infinity: never) · then, each a `u32` length
 * and UTF-8 bytes: scope, key, embedder id, text, features · `u32` dimensions · the vector as `f32`s · `u32` words of the sketch (0: none) · `u32`
 * dimensions of their vectors · their places · their vectors as `i8`s.
 */
export interface VectorRecord {
  readonly scope: string;
  readonly key: string;
  readonly embedderId: string;
  readonly expiresAtMs: number;
  /** Normalised asked text. */
  readonly text: string;
  readonly features: Features;
  readonly sketch?: Sketch | undefined;
  /** Unit length. */
  readonly vector: Float32Array;
}

/** The parts of a record that an index needs; text and features are decoded for candidates only. */
export interface VectorHead {
  readonly scope: string;
  readonly key: string;
  readonly embedderId: string;
  readonly expiresAtMs: number;
  readonly vector: Float32Array;
}

const LAYOUT = 2;
const STRINGS = 5;
const FIXED_BYTES = 2 + 8 + STRINGS * 4 + 4 + 8;
const NO_SKETCH: Sketch = { places: new Uint8Array(0), vectors: new Int8Array(0) };
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Bytes of a record, for the `vectors` map. */
export function encodeVectorRecord(record: VectorRecord): Uint8Array {
  const strings = [record.scope, record.key, record.embedderId, record.text, serialiseFeatures(record.features)];
  const parts = strings.map((text) => encoder.encode(text));
  const stringBytes = parts.reduce((sum, part) => sum + part.length, 0);
  const { places, vectors } = record.sketch ?? NO_SKETCH;
  const bytes = new Uint8Array(FIXED_BYTES + stringBytes + record.vector.length * 4 + places.length + vectors.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, LAYOUT);
  view.setUint8(1, FEATURE_VERSION);
  view.setFloat64(2, record.expiresAtMs, true);
  let at = 10;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    bytes.set(part, at + 4);
    at += 4 + part.length;
  }
  view.setUint32(at, record.vector.length, true);
  at += 4;
  for (const value of record.vector) {
    view.setFloat32(at, value, true);
    at += 4;
  }
  view.setUint32(at, places.length, true);
  view.setUint32(at + 4, vectors.length / Math.max(1, places.length), true);
  bytes.set(places, at + 8);
  bytes.set(new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.length), at + 8 + places.length);
  return bytes;
}

/** What an index needs of a record; undefined when layout or features are of another version, or the bytes are malformed. */
export function decodeVectorHead(bytes: Uint8Array): VectorHead | undefined {
  const spans = locate(bytes);
  if (spans === undefined) return undefined;
  const view = viewOf(bytes);
  const scope = text(bytes, spans[0]);
  const key = text(bytes, spans[1]);
  const embedderId = text(bytes, spans[2]);
  const dimensionsAt = spans[4]?.to ?? 0;
  const dimensions = view.getUint32(dimensionsAt, true);
  if (scope === undefined || key === undefined || embedderId === undefined) return undefined;
  const vector = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i += 1) vector[i] = view.getFloat32(dimensionsAt + 4 + i * 4, true);
  return { scope, key, embedderId, expiresAtMs: view.getFloat64(2, true), vector };
}

/** Text, features and sketch of a record; undefined as for `decodeVectorHead`. */
export function decodeVectorText(bytes: Uint8Array): PairSide | undefined {
  const spans = locate(bytes);
  if (spans === undefined) return undefined;
  const stored = text(bytes, spans[3]);
  const serialised = text(bytes, spans[4]);
  if (stored === undefined || serialised === undefined) return undefined;
  const features = parseFeatures(serialised);
  if (features === undefined) return undefined;
  const sketch = sketchIn(bytes, spans[4]?.to ?? 0);
  return sketch === undefined ? { text: stored, features } : { text: stored, features, sketch };
}

/** Views into the record: it is never changed. */
function sketchIn(bytes: Uint8Array, dimensionsAt: number): Sketch | undefined {
  const view = viewOf(bytes);
  const at = dimensionsAt + 4 + view.getUint32(dimensionsAt, true) * 4;
  const words = view.getUint32(at, true);
  if (words === 0) return undefined;
  const places = bytes.subarray(at + 8, at + 8 + words);
  const vectors = new Int8Array(bytes.buffer, bytes.byteOffset + at + 8 + words, words * view.getUint32(at + 4, true));
  return { places, vectors };
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Where the strings lie; undefined unless every length fits and vector and sketch fill the rest exactly. */
function locate(bytes: Uint8Array): readonly Span[] | undefined {
  if (bytes.length < FIXED_BYTES || bytes[0] !== LAYOUT || bytes[1] !== FEATURE_VERSION) return undefined;
  const view = viewOf(bytes);
  const spans: Span[] = [];
  let at = 10;
  for (let i = 0; i < STRINGS; i += 1) {
    if (at + 4 > bytes.length) return undefined;
    const from = at + 4;
    at = from + view.getUint32(at, true);
    if (at > bytes.length) return undefined;
    spans.push({ from, to: at });
  }
  if (at + 4 > bytes.length) return undefined;
  at += 4 + view.getUint32(at, true) * 4;
  if (at + 8 > bytes.length) return undefined;
  const words = view.getUint32(at, true);
  return bytes.length === at + 8 + words + words * view.getUint32(at + 4, true) ? spans : undefined;
}

function text(bytes: Uint8Array, span: Span | undefined): string | undefined {
  if (span === undefined) return undefined;
  try {
    return decoder.decode(bytes.subarray(span.from, span.to));
  } catch {
    return undefined;
  }
}
