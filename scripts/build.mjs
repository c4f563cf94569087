import { failSetUp, setUp } from './lib/setup.mjs';

await setUp({ model: false }).catch(failSetUp);
