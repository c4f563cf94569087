import { kernelDigest } from './kernel-digest.ts';

process.stdout.write(`${await kernelDigest(process.argv[2] ?? '')}\n`);
