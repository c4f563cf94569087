/** Group of each pair: pairs that share a text, directly or by way of others, have the same number. */
export function textGroups(pairs: readonly (readonly [string, string])[]): readonly number[] {
  const parents = new Map<string, string>();
  const rootOf = (text: string): string => {
    let root = text;
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root)) root = parent;
    for (let at = text; at !== root;) {
      const next = parents.get(at) ?? root;
      parents.set(at, root);
      at = next;
    }
    return root;
  };
  for (const [a, b] of pairs) {
    const rootA = rootOf(a);
    const rootB = rootOf(b);
    if (rootA !== rootB) parents.set(rootA, rootB);
  }
  const numbers = new Map<string, number>();
  return pairs.map(([a]) => {
    const root = rootOf(a);
    const number = numbers.get(root) ?? numbers.size;
    numbers.set(root, number);
    return number;
  });
}
