import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** `npm test`: everything that needs nothing beyond the package and git. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/journeys/**', 'node_modules/**'],
    globalSetup: ['test/support/postgres.ts'],
    pool: 'forks',
    // The files of a worker share its modules, which are a second's work to evaluate.
    isolate: false,
    maxWorkers: availableParallelism(),
    // They end what hangs; a busy machine is no reason to fail.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
