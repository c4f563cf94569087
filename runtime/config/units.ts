const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1_000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};

const MEASURE = /^(\d{1,15}(?:\.\d{1,6})?) ?([A-Za-z]{1,3})$/;

/** A duration such as `500ms` or `24h` in milliseconds, rounded; undefined when the text isn't one. */
export function parseDurationMs(text: string): number | undefined {
  return parseMeasure(text, DURATION_MS);
}

/** A size such as `128MiB` in bytes, rounded; undefined when the text isn't one. */
export function parseBytes(text: string): number | undefined {
  return parseMeasure(text, BYTES);
}

function parseMeasure(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = MEASURE.exec(text.trim());
  const unit = match?.[2] ?? '';
  if (match === null || !Object.hasOwn(units, unit)) return undefined;
  return Math.round(Number(match[1]) * (units[unit] ?? 0));
}
