/** A vector of unit length, or undefined when it is degenerate: of wrong dimension, not finite, or (nearly) zero. */
export function unitVector(vector: Float32Array, dimensions: number): Float32Array | undefined {
  if (vector.length !== dimensions) return undefined;
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!Number.isFinite(squares) || squares < 1e-12) return undefined;
  if (Math.abs(squares - 1) < 1e-4) return vector;
  const length = Math.sqrt(squares);
  return vector.map((value) => value / length);
}
