const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

const SIZES: readonly (readonly [unit: string, bytes: number])[] = [
  ['GiB', 1_073_741_824],
  ['MiB', 1_048_576],
  ['KiB', 1_024],
];

/** A duration for people: its two largest units, `3 h 12 min`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return 'for ever';
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const parts: string[] = [];
  let rest = Math.round(ms / 1_000) * 1_000;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    if (parts.length > 0 && (parts.length === 2 || count === 0)) break;
  }
  return parts.join(' ');
}

/** A size for people: `1.5 MiB`. */
export function size(bytes: number): string {
  const unit = SIZES.find(([, least]) => bytes >= least);
  return unit === undefined ? `${bytes} B` : `${(bytes / unit[1]).toFixed(1)} ${unit[0]}`;
}

/** A whole number with its thousands apart: `12,345`. */
export function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** How many of something: `1 entry`, `12,345 entries`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A part of a whole: `66.4 %`; a dash where the whole is nothing. */
export function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
}

/** The first characters of an entry id, enough to tell it from others. */
export function shortId(id: string): string {
  return id.slice(0, 12);
}

/** A text on one line of at most `charsMax` characters; control characters, which could drive a terminal, become spaces. */
export function oneLine(text: string, charsMax: number): string {
  const flat = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const characters = Array.from(flat);
  return characters.length <= charsMax ? flat : `${characters.slice(0, charsMax - 1).join('')}…`;
}

/** A text of several lines without the control characters that could drive a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}
