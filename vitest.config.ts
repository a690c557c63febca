import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Threads and processes of the program are started by the hundred: without it, each strips its types anew.
process.env.NODE_COMPILE_CACHE ??= join(homedir(), '.cache', 'ashlar', 'node');

/** Walks over all endpoints go first, since none may be left to one worker at the end; then what is long or large. */
class WalksFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isWalk = ({ moduleId }: TestSpecification) => moduleId.includes('/test/contract/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isWalk), ...sorted.filter((file) => !isWalk(file))];
  }
}

/** `npm test`: everything that needs nothing beyond the package and git. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/journeys/**', 'node_modules/**'],
    globalSetup: ['test/support/postgres.ts'],
    setupFiles: ['test/support/clock-is-back.ts'],
    pool: 'forks',
    // The files of a worker share its modules, which are a second's work to evaluate.
    isolate: false,
    sequence: { sequencer: WalksFirst },
    maxWorkers: availableParallelism(),
    // They end what hangs; a busy machine is no reason to fail.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
