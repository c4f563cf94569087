const PATTERN = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/u;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS_TO_1970 = 719_468;

/** Milliseconds since 1970 of a written time (`2023-11-16 18:15:46.6805900`, UTC unless it says otherwise); undefined: it is none. */
export function wallTimeMs(text: string): number | undefined {
  const parts = PATTERN.exec(text.trim());
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '0', zone = 'Z'] = parts;
  const [mm, dd] = [Number(month), Number(day)];
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  if (mm < 1 || mm > 12 || dd < 1 || dd > 31 || h > 23 || m > 59 || s > 60) return undefined;
  const days = daysSince1970(Number(year), mm, dd);
  return days * DAY_MS + (h * 60 + m) * MINUTE_MS + (s + Number(`0.${fraction}`)) * 1_000 - zoneMs(zone);
}

function zoneMs(zone: string): number {
  if (zone === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -1 : 1) * minutes * MINUTE_MS;
}

/** Days of the proleptic Gregorian calendar, counted in years that begin in March, so that leap days come last. */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - DAYS_TO_1970;
}
