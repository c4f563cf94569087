const REMEMBERED = Symbol('remembered');

interface Remembering {
  readonly [REMEMBERED]?: unknown[];
}

let functions = 0;

/**
 * A pure function of an object that is never changed, worked out once for as long as that lives: a text meets several others. What is
 * remembered lies in the object itself, where copies, comparisons and JSON don't see it: weak maps of many short-lived keys cost the collector
 * more than all else here.
 */
export function remembered<K extends object, T extends NonNullable<unknown>>(work: (of: K) => T): (of: K) => T {
  const slot = functions;
  functions += 1;
  return (of) => {
    const slots = (of as Remembering)[REMEMBERED];
    const before = slots?.[slot];
    if (before !== undefined) return before as T;
    const made = work(of);
    keep(of, slot, made);
    return made;
  };
}

function keep(of: Remembering, slot: number, made: unknown): void {
  const slots = of[REMEMBERED];
  if (slots !== undefined) slots[slot] = made;
  else if (Object.isExtensible(of)) {
    const first: unknown[] = [];
    for (let at = 0; at < functions; at += 1) first.push(undefined);
    first[slot] = made;
    Object.defineProperty(of, REMEMBERED, { value: first });
  }
}
