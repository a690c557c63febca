import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take minutes, the longest first: begun last, one would be left to one worker. */
const longest = [
  ...['schemathesis', 'runner-crash', 'merge-kill', 'hook-kill', 'storage-moves-kill', 'fair-share'],
  ...['mail-outage', 'kill', 'openid-client', 'postgres-upgrade', 'renovate', 'interrupted-writes'],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return found < 0 ? longest.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

/** `npm run journeys`: whole stories with programs that nobody here wrote; a missing one is a failure that names it. */
export default defineConfig({
  test: {
    include: ['test/journeys/**/*.test.ts'],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
