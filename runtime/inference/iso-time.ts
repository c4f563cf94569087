const DAY_MS = 86_400_000;
const DAYS_TO_1970 = 719_468;
const ERA_DAYS = 146_097;

/** A wall-clock time as ISO 8601 in UTC, to the second; core has no calendar of its own. */
export function isoTime(wallMs: number): string {
  const days = Math.floor(wallMs / DAY_MS);
  const seconds = Math.floor((wallMs - days * DAY_MS) / 1_000);
  // Years begin in March, so that leap days come last.
  const fromEra = days + DAYS_TO_1970;
  const era = Math.floor(fromEra / ERA_DAYS);
  const dayOfEra = fromEra - era * ERA_DAYS;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const time = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${year}-${two(month)}-${two(day)}T${time.map(two).join(':')}Z`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
