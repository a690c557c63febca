import { defineConfig } from 'vitest/config';

/** `npm run journeys`: whole stories with programs that nobody here wrote; a missing one is a failure that names it. */
export default defineConfig({
  test: {
    include: ['test/journeys/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
