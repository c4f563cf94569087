import { randomBytes } from 'node:crypto';

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives a request its id: the caller's own where it is a plain name, else one of ours, a prefix of this process and a count. */
export function requestIds(): (given: string | readonly string[] | undefined) => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && REQUEST_ID.test(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
