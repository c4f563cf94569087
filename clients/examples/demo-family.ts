/** What makes a trap: it reads almost like the question and means something else. */
export type TrapKind = 'negation' | 'opposite' | 'number' | 'name' | 'roles' | 'scope' | 'question';

/** One question, other ways to ask it, and questions that must not get its answer. */
export interface Family {
  readonly domain: string;
  readonly question: string;
  readonly rephrasings: readonly string[];
  readonly traps: readonly (readonly [kind: TrapKind, text: string])[];
}
