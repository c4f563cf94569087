export declare const ROOT: string;
export declare function nodeProblem(version?: string): string | undefined;
export declare function stepLog(startedMs?: number): (line: string) => void;
export declare function newsOnly(log: (line: string) => void, now?: () => number): (line: string) => void;
export declare function areDependenciesInstalled(root?: string): boolean;
export declare function run(
  command: string,
  args: readonly string[],
  options?: { cwd?: string; env?: NodeJS.ProcessEnv; shell?: boolean },
): Promise<{ code: number; signal: NodeJS.Signals | null; output: string }>;
export declare function sourceState(root?: string): { hash: string; paths: string[] };
export declare function setUp(options?: {
  root?: string;
  log?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
  model?: boolean;
}): Promise<{
  model: { modelPath: string; tokenizerPath: string; source: string } | { unavailable: string };
}>;
export declare function failSetUp(error: unknown): never;
