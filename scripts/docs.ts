import { writeFileSync } from 'node:fs';
import { DOCS, GENERATED, generateDoc, readDoc } from './lib/generated-docs.ts';

const isCheck = process.argv.includes('--check');
for (const name of GENERATED) {
  const wanted = await generateDoc(name);
  if (!isCheck) writeFileSync(`${DOCS}${name}`, wanted);
  else if (readDoc(name) !== wanted) {
    console.log(`docs/${name} is not as generated: run npm run docs and commit what it writes.`);
    process.exitCode = 1;
  }
}
