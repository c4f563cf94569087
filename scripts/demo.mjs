import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failSetUp, ROOT, setUp } from './lib/setup.mjs';

const isHelp = process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h');
await setUp({ model: !isHelp }).catch(failSetUp);
const main = join(ROOT, 'dist', 'clients', 'examples', 'demo.js');
process.argv[1] = main;
await import(pathToFileURL(main).href);
