import type { DemoRequest, DemoTool } from './demo-request.ts';
import { demoTokens } from './demo-request.ts';
import { valueForSchema } from './demo-schema.ts';

/** One choice of the demo model's answer. */
export interface DemoChoice {
  readonly reasoning: readonly string[];
  /** Tokens of the text; empty beside a tool call. */
  readonly content: readonly string[];
  readonly tool: { readonly name: string; readonly argumentsJson: string } | undefined;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
}

const RESTATED_MAX = 300;
const ARITHMETIC_MAX = 200;
const SIGNATURE = "(This is Reprise's demo model, which answers from the question alone.)";

/** Words that say that something is done, not what: a prompt need not repeat them to mean a tool. */
const TOOL_VERBS = new Set([
  'get',
  'fetch',
  'find',
  'search',
  'lookup',
  'list',
  'run',
  'call',
  'make',
  'create',
  'set',
]);

/** The choice with this index: the same request gives the same choice, always. */
export function demoChoice(request: DemoRequest, question: string, index: number): DemoChoice {
  const asked = question.normalize('NFC').replaceAll(/\s+/gu, ' ').trim();
  const tool = index === 0 || request.toolChoice !== 'auto' ? chooseTool(request, asked) : undefined;
  if (tool !== undefined) {
    const argumentsJson = JSON.stringify(
      valueForSchema(tool.parameters, { text: subject(asked), number: number(asked) }) ?? {},
    );
    return { reasoning: [], content: [], tool: { name: tool.name, argumentsJson }, finishReason: 'tool_calls' };
  }
  const reasoning = request.reasons ? demoTokens(`The question is ${quoted(asked)}. I answer it as a demo does.`) : [];
  const { responseSchema } = request;
  const text =
    responseSchema === undefined
      ? plainText(request, asked, index)
      : JSON.stringify(valueForSchema(responseSchema, { text: sentence(asked), number: number(asked) }));
  return cut(request, reasoning, text);
}

function cut(request: DemoRequest, reasoning: readonly string[], text: string): DemoChoice {
  let kept = text;
  for (const stop of request.stop) {
    const at = kept.indexOf(stop);
    if (at >= 0) kept = kept.slice(0, at);
  }
  const content = demoTokens(kept);
  const contentMax = Math.max(0, request.tokensMax - reasoning.length);
  const whole = content.length <= contentMax && reasoning.length <= request.tokensMax;
  return {
    reasoning: reasoning.slice(0, request.tokensMax),
    content: content.slice(0, contentMax),
    tool: undefined,
    finishReason: whole ? 'stop' : 'length',
  };
}

function plainText(request: DemoRequest, asked: string, index: number): string {
  const again = index === 0 ? '' : `Put another way (${index + 1}): `;
  if (request.toolResult !== '') return `${again}The tool says ${quoted(request.toolResult)}. ${SIGNATURE}`;
  const before = request.turnsBefore === 0 ? '' : ` I have ${request.turnsBefore} earlier messages in mind.`;
  return `${again}${sentence(asked)}${before} ${SIGNATURE}`;
}

/** The answer itself: by the kind of the question, with the question in it. */
function sentence(asked: string): string {
  if (asked === '') return 'You sent no text, so there is nothing to answer.';
  const sum = arithmetic(asked);
  if (sum !== undefined) return sum;
  const restated = quoted(asked);
  const firstWord = asked.toLowerCase().match(/^\p{L}+/u)?.[0] ?? '';
  if (firstWord === 'how') return `You asked ${restated}. Do it in three steps: prepare, carry out, check the result.`;
  if (firstWord === 'why') return `You asked ${restated}. There is usually one main cause; look for what changed last.`;
  if (['what', 'which', 'who', 'where', 'when'].includes(firstWord)) {
    return `You asked ${restated}. A short answer: it depends on your case, and the details are in your records.`;
  }
  if (['is', 'are', 'can', 'could', 'do', 'does', 'did', 'will', 'would', 'should', 'may'].includes(firstWord)) {
    return `You asked ${restated}. As far as the question tells, yes, if nothing speaks against it.`;
  }
  if (['hi', 'hello', 'hey'].includes(firstWord)) return `Hello! You wrote ${restated}. What would you like to know?`;
  return `You wrote ${restated}. It is noted, and this is the reply to it.`;
}

function arithmetic(asked: string): string | undefined {
  if (asked.length > ARITHMETIC_MAX) return undefined;
  const match = /(-?\d+(?:\.\d+)?) ?([-+*/×÷]) ?(-?\d+(?:\.\d+)?)/u.exec(asked);
  if (match === null) return undefined;
  const [expression, left, operator, right] = match;
  const result = calculate(Number(left), String(operator), Number(right));
  return Number.isFinite(result) ? `${expression} = ${Number(result.toPrecision(12))}.` : undefined;
}

function calculate(left: number, operator: string, right: number): number {
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  return operator === '*' || operator === '×' ? left * right : left / right;
}

function chooseTool(request: DemoRequest, asked: string): DemoTool | undefined {
  const { tools, toolChoice } = request;
  if (toolChoice === 'none' || tools.length === 0) return undefined;
  if (toolChoice.startsWith('tool:')) return tools.find((tool) => `tool:${tool.name}` === toolChoice);
  if (request.toolResult !== '' && toolChoice === 'auto') return undefined;
  const words = new Set(asked.toLowerCase().match(/[\p{L}\p{N}_-]+/gu));
  const meant = tools.find((tool) => mentions(words, tool.name));
  return meant ?? (toolChoice === 'required' ? tools[0] : undefined);
}

function mentions(words: ReadonlySet<string>, name: string): boolean {
  if (words.has(name.toLowerCase())) return true;
  const parts = name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const telling = parts.filter((part) => part !== '' && !TOOL_VERBS.has(part));
  return telling.length > 0 && telling.every((part) => words.has(part));
}

/** What a question is about: its last capitalised words past the first word, else all of it. */
function subject(asked: string): string {
  const names = asked.slice(0, RESTATED_MAX).match(/(?<=\S )\p{Lu}[\p{L}\p{N}'-]*(?: \p{Lu}[\p{L}\p{N}'-]*)*/gu);
  return names?.at(-1) ?? shortened(asked);
}

function number(asked: string): number {
  const match = asked.match(/-?\d{1,15}(?:\.\d{1,6})?/u);
  return match === null ? 1 : Number(match[0]);
}

function quoted(text: string): string {
  return `“${shortened(text)}”`;
}

function shortened(text: string): string {
  if (text.length <= RESTATED_MAX) return text;
  // A surrogate pair that the cut would split goes whole.
  return `${text.slice(0, RESTATED_MAX).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
