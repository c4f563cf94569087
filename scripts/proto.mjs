import { generateProto } from './lib/proto.mjs';
import { ROOT } from './lib/setup.mjs';

await generateProto(ROOT);
