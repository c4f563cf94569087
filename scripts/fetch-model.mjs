import { mkdirSync } from 'node:fs';
import { ensureEmbeddingModel } from './lib/embedding-model.mjs';

const USAGE = `Fetches the embedding model for an image (REPRISE_MODEL_BASE_URL: a mirror).
usage: node scripts/fetch-model.mjs fetch|none FOLDER
`;

const [what, folder] = process.argv.slice(2);
if ((what !== 'fetch' && what !== 'none') || folder === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  mkdirSync(folder, { recursive: true });
  const log = (line) => process.stderr.write(`${line}\n`);
  const found = what === 'none' ? {} : await ensureEmbeddingModel({ cacheDir: folder, sources: ['http'], log });
  if ('unavailable' in found) {
    log(`The embedding model could not be fetched: ${String(found.unavailable)}`);
    log('Name a mirror with --build-arg REPRISE_MODEL_BASE_URL=…, or do without: --build-arg MODEL=none.');
    process.exitCode = 1;
  }
}
