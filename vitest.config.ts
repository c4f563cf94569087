import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{runtime,grid,simulation,evaluation,clients,proto,bench,scripts}/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
