export declare function buf(
  root: string,
  args: readonly string[],
): Promise<{ code: number; signal: NodeJS.Signals | null; output: string }>;
export declare function generateProto(root: string, out?: string): Promise<void>;
export declare function proveGenerated(root: string): Promise<string[]>;
export declare function differences(committed: string, generated: string): string[];
