/** One file of an embedding model. Without `sha256` the hash of the first download is kept and checked from then on. */
export interface ModelFile {
  readonly file: string;
  readonly sha256?: string;
  readonly bytesMax: number;
  /** Path below the base URL. */
  readonly url: string;
  /** Name in the Maven artifact. */
  readonly inArchive: string;
}

export interface ModelDescription {
  readonly name: string;
  readonly files: { readonly model: ModelFile; readonly tokenizer: ModelFile };
  readonly artifact?: { readonly coordinates: string; readonly file: string };
}

export interface EnsureOptions {
  /** Folder of all models. */
  readonly cacheDir?: string;
  readonly model?: ModelDescription;
  readonly sources?: readonly ('maven' | 'http')[];
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  readonly mavenCommand?: string;
  /** Longest silence of a server, milliseconds. */
  readonly stallMs?: number;
  /** Longest time of one download, milliseconds. */
  readonly totalMs?: number;
}

export interface FoundModel {
  readonly modelPath: string;
  readonly tokenizerPath: string;
  readonly source: 'cache' | 'maven' | 'http';
}

export declare const DEFAULT_MODEL: ModelDescription;
export declare function modelCacheDir(env?: NodeJS.ProcessEnv): string;
export declare function ensureEmbeddingModel(
  options?: EnsureOptions,
): Promise<FoundModel | { readonly unavailable: string }>;
