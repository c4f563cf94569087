import { writeFileSync } from 'node:fs';

/** Where a unique body differs; as many characters as what takes its place. */
export const UNIQUE_MARK = '@'.repeat(24);

const MODEL = 'bench-model';
const SYSTEM = 'You are the assistant of a hardware shop. Answer briefly, and say so when you do not know.';
const MESSAGE_CHARACTERS = 700;
const WORDS =
  'order parcel screw drill blade return refund invoice colour black steel socket cable metre shelf "oak" delivery late Tuesday broken warranty price discount stock size depth of the with for and is my was\n'.split(
    ' ',
  );

/** What a set of bodies is for; stream and whole answers are entries of their own. */
export type BodyKind = 'whole' | 'stream';

/** A chat completion request of exactly `bytes` bytes, unlike that of any other `id`. */
export function chatBody(bytes: number, kind: BodyKind, id: string): string {
  const messages: { role: string; content: string }[] = [{ role: 'system', content: SYSTEM }];
  const request = {
    model: MODEL,
    temperature: 0.2,
    messages,
    ...(kind === 'stream' && { stream: true, stream_options: { include_usage: true } }),
  };
  const random = seededNumbers(id);
  const turns = Math.max(0, Math.floor((bytes - 600) / (MESSAGE_CHARACTERS + 60)));
  for (let turn = 0; turn < turns; turn += 1) {
    const role = turn % 2 === turns % 2 ? 'user' : 'assistant';
    messages.push({ role, content: words(random, MESSAGE_CHARACTERS) });
  }
  const last = { role: 'user', content: `Case ${id}: ` };
  messages.push(last);
  const left = bytes - JSON.stringify(request).length;
  if (left < 0) throw new Error(`A body of ${bytes} bytes is too small for a request.`);
  last.content += words(random, left).replaceAll(/["\n]/g, '.');
  return JSON.stringify(request);
}

/** Writes `count` distinct bodies, one a line. */
export function writeBodies(path: string, count: number, bytes: number, kind: BodyKind): void {
  const lines: string[] = [];
  for (let index = 0; index < count; index += 1) lines.push(chatBody(bytes, kind, `${kind}-${index}`));
  writeFileSync(path, `${lines.join('\n')}\n`);
}

/** Writes one body whose mark a load replaces. */
export function writeTemplate(path: string, bytes: number, kind: BodyKind): void {
  writeFileSync(path, `${chatBody(bytes, kind, UNIQUE_MARK)}\n`);
}

function words(random: () => number, characters: number): string {
  let text = '';
  while (text.length < characters) text += `${WORDS[random() % WORDS.length] ?? ''} `;
  return text.slice(0, characters);
}

/** The same numbers for the same text, in every run. */
function seededNumbers(text: string): () => number {
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
