/** Words that ask for something beside or after what was said or given before. */
const BESIDE = new Set('another other others else again'.split(' '));
/** Two words of which the first alone says little. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['one', 'more'],
  ['some', 'more'],
  ['once', 'more'],
  ['more', 'of'],
];
const WORDS_MAX = 400;

/** True when only one of the texts asks for another thing than before: "a joke" and "another joke". Symmetric. */
export function contextDiffers(a: readonly string[], b: readonly string[]): boolean {
  return besideWords(a) !== besideWords(b);
}

/** The words of the kind that a text has, sorted, each once. */
function besideWords(words: readonly string[]): string {
  const found = new Set<string>();
  for (let index = 0; index < Math.min(words.length, WORDS_MAX); index += 1) {
    const word = plain(words[index] ?? '');
    const next = plain(words[index + 1] ?? '');
    if (BESIDE.has(word)) found.add(word === 'others' ? 'other' : word);
    if (PAIRS.some(([first, second]) => first === word && second === next)) found.add('more');
  }
  return [...found].sort((one, two) => (one < two ? -1 : 1)).join(' ');
}

function plain(word: string): string {
  return word.length > 1 && word.startsWith('^') ? word.slice(1) : word;
}
