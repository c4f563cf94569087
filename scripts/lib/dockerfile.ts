/** One instruction of a Dockerfile, continued lines joined. */
export interface Instruction {
  /** Upper case: `RUN`, `COPY`, … */
  readonly name: string;
  /** `--from`, `--interval` and the like. */
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
  /** The words of a JSON array (exec form); undefined for any other form. */
  readonly words: readonly string[] | undefined;
  readonly line: number;
}

/** A stage: its base, and what is done to it. */
export interface Stage {
  /** Image, or an earlier stage. */
  readonly base: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** Takes a Dockerfile apart. Throws where a line is none of it. */
export function parseDockerfile(text: string): Stage[] {
  const stages: { base: string; name: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    if (instruction.name === 'FROM') {
      const [base = '', as, name = ''] = instruction.text.split(/\s+/);
      if (as !== undefined && as.toUpperCase() !== 'AS')
        throw new Error(`line ${instruction.line}: FROM image AS name`);
      stages.push({ base, name: name || String(stages.length), instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`line ${instruction.line}: ${instruction.name} before FROM`);
      stage.instructions.push(instruction);
    }
  }
  return stages;
}

function* instructionsOf(text: string): Generator<Instruction> {
  let [joined, begun] = ['', 0];
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line.startsWith('#') || (line === '' && joined === '')) continue;
    if (joined === '') begun = at + 1;
    joined += line.endsWith('\\') ? `${line.slice(0, -1).trimEnd()} ` : line;
    if (line.endsWith('\\')) continue;
    yield instructionOf(joined, begun);
    joined = '';
  }
}

function instructionOf(joined: string, line: number): Instruction {
  const [, name, given] = /^([A-Z]+)\s+(.*)$/.exec(joined) ?? [];
  if (name === undefined || given === undefined) throw new Error(`line ${line}: '${joined}' is no instruction`);
  const flags: Record<string, string> = {};
  let text = given;
  for (let flag = FLAG.exec(text); flag !== null; flag = FLAG.exec(text)) {
    flags[flag[1] as string] = flag[2] as string;
    text = text.slice(flag[0].length);
  }
  // HEALTHCHECK holds an instruction of its own.
  const form = name === 'HEALTHCHECK' ? text.replace(/^CMD\s+/, '') : text;
  return { name, flags, text, words: form.startsWith('[') ? (JSON.parse(form) as string[]) : undefined, line };
}

const FLAG = /^--([a-z-]+)=(\S+)\s+/;

/** Instructions of one name. */
export function instructionsNamed(stage: Stage, name: string): Instruction[] {
  return stage.instructions.filter((instruction) => instruction.name === name);
}

/** The last instruction of one name, which is the one that counts. */
export function lastNamed(stage: Stage, name: string): Instruction | undefined {
  return instructionsNamed(stage, name).at(-1);
}

/** What ENV and ARG set in a stage, quotes taken off. */
export function variablesOf(stage: Stage, name: 'ENV' | 'ARG'): Record<string, string> {
  const set: Record<string, string> = {};
  for (const { text } of instructionsNamed(stage, name)) {
    for (const [, key = '', value = ''] of text.matchAll(/([A-Z][A-Z0-9_]*)=("[^"]*"|\S*)/g)) {
      set[key] = value.replace(/^"(.*)"$/, '$1');
    }
  }
  return set;
}

/** The user that a stage runs as; empty: root. */
export function userOf(stage: Stage): string {
  return lastNamed(stage, 'USER')?.text ?? '';
}
