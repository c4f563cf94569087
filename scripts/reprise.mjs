#!/usr/bin/env node
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failSetUp, ROOT, setUp } from './lib/setup.mjs';

// Only a server embeds; the other commands don't wait for the model's files.
await setUp({ model: process.argv[2] === 'serve' }).catch(failSetUp);
const main = join(ROOT, 'dist', 'clients', 'cli', 'main.js');
process.argv[1] = main;
await import(pathToFileURL(main).href);
