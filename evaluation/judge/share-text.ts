import type { Share } from './summary.ts';

/** A share with its interval: `12.0 % (9.1–15.4; 48 of 400)`. */
export function shareText(share: Share | undefined): string {
  if (share === undefined || share.share === null) return '–';
  const number = (value: number): string => (100 * value).toFixed(1);
  return `${number(share.share)} % (${number(share.low)}–${number(share.high)}; ${share.count} of ${share.of})`;
}
