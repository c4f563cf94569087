import { ensureEmbeddingModel } from './lib/embedding-model.mjs';

const USAGE = `Fetches a cross-encoder for semantic.verifier from Hugging Face (REPRISE_MODEL_BASE_URL: a mirror), beside the embedding model.
usage: node scripts/cross-encoder.mjs NAME REPOSITORY@COMMIT [ONNX_FILE]
  NAME        what to call it in semantic.verifier.name
  COMMIT      the whole commit, 40 hex digits, so that the same files come each time
  ONNX_FILE   its path in the repository (onnx/model.onnx)
`;
const MIB = 1024 * 1024;
const NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/u;
const SOURCE = /^([\w.-]+\/[\w.-]+)@([0-9a-f]{40})$/u;

/** What to fetch; undefined when the arguments don't say. */
function modelOf([name = '', source = '', onnxFile = 'onnx/model.onnx']) {
  const [, repository, commit] = SOURCE.exec(source) ?? [];
  if (!NAME.test(name) || repository === undefined) return undefined;
  const at = `${repository}/resolve/${commit}`;
  return {
    name,
    files: {
      model: { file: 'model.onnx', bytesMax: 2_048 * MIB, url: `${at}/${onnxFile}` },
      tokenizer: { file: 'tokenizer.json', bytesMax: 64 * MIB, url: `${at}/tokenizer.json` },
    },
  };
}

const model = modelOf(process.argv.slice(2));
if (model === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const log = (line) => process.stderr.write(`${line.replace('embedding model', model.name)}\n`);
  const found = await ensureEmbeddingModel({ model, sources: ['http'], log });
  if ('unavailable' in found) {
    process.stderr.write(`${model.name} could not be fetched: ${found.unavailable}\n`);
    process.exitCode = 1;
  } else process.stdout.write(`${found.modelPath}\n`);
}
