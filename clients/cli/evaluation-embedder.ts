import { join } from 'node:path';
import type { Config } from '../../runtime/config/index.ts';
import type { TextEmbedder } from '../../evaluation/embedding/text-embedder.ts';

/** Lets `work` embed texts with the model that the options name, then closes it. Vectors are kept in the data folder. */
export async function withTextEmbedder<R>(
  config: Config,
  named: string | undefined,
  work: (embedder: TextEmbedder) => Promise<R>,
): Promise<R> {
  const [{ openNamedEmbedder }, { TextEmbedder: Embedder }] = await Promise.all([
    import('../../evaluation/embedding/open-embedder.ts'),
    import('../../evaluation/embedding/text-embedder.ts'),
  ]);
  const opened = await openNamedEmbedder(config.embedder, named);
  try {
    return await work(await Embedder.open(opened, { folder: join(config.dataDir, 'embeddings') }));
  } finally {
    await opened.close();
  }
}
