/** A pure function of an object that is never changed, worked out once for as long as that lives: a text meets several others. */
export function remembered<K extends object, T extends NonNullable<unknown>>(work: (of: K) => T): (of: K) => T {
  const known = new WeakMap<K, T>();
  return (of) => {
    const before = known.get(of);
    if (before !== undefined) return before;
    const made = work(of);
    known.set(of, made);
    return made;
  };
}
