import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** `npm run test:quick` without a folder: tests that need no server and no database. They share their workers. */
export default defineConfig({
  test: { pool: 'threads', isolate: false, maxWorkers: availableParallelism(), testTimeout: 600_000 },
});
