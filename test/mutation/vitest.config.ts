/** Tests of sources that carry all mutants: see scripts/mutate-access.ts. The files on disk stay as they are. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { mutate } from './mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(code, id) {
        const file = relative(root, id.split('?')[0] ?? id);
        if (!/^src\/(kernel|domain)\/.*(?<!\.test|\/samples)\.ts$/.test(file)) return undefined;
        return { code: mutate(file, code).text, map: null };
      },
    },
  ],
  test: {
    include: ['test/mutation/matrix.ts', 'src/**/*.test.ts', 'test/contract/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    setupFiles: ['test/mutation/switch.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
