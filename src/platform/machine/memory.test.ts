import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Lets garbage of the whole heap grow until it is collected, and says how that was begun. */
const story = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { boundGarbage, tuneCollector } from ${JSON.stringify(join(import.meta.dirname, 'memory.ts'))};
  tuneCollector();
  const living = Array.from({ length: 400_000 }, (_, i) => ({ i, text: 'x' + i }));
  boundGarbage();
  let kept = [];
  let collected = false;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) {
      if (detail.kind !== constants.NODE_PERFORMANCE_GC_MAJOR || kept.length < 200_000) continue;
      collected = true;
      const isForced = (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
      process.stdout.write(isForced ? 'at once' : 'in steps');
      process.exit(living.length === 400_000 ? 0 : 1);
    }
  }).observe({ entryTypes: ['gc'] });
  const grow = () => {
    // Much until the bound, then a little by turns: the engine looks at its bounds when something is allocated.
    const few = process.memoryUsage().heapUsed > FULL ? 500 : 20_000;
    for (let i = 0; i < few; i++) kept.push({ i, text: 'y' + i });
    if (!collected) setTimeout(grow, 1);
  };
  const FULL = process.memoryUsage().heapUsed + 40 * 1_048_576;
  grow();`;

test('a heap that has grown is collected in small steps, not all at once', () => {
  const arguments_ = ['--input-type=module-typescript', '--eval', story];
  expect(execFileSync(process.execPath, arguments_, { encoding: 'utf8' })).toBe('in steps');
});
