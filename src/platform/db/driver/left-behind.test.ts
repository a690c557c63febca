/** What statements and transactions leave in memory: nothing that only a collection of the whole heap would free. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

/** Bytes for each. */
const MOST = 300;

test.each(['a statement without Kysely', 'a statement', 'a transaction', 'a transaction without Kysely'])(
  '%s',
  async (way) => {
    const target = JSON.stringify({ ...inject('postgres'), database: 'postgres' });
    const program = join(import.meta.dirname, '../../../../test/support/left-behind.ts');
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, target, way]);
    expect(JSON.parse(stdout)).toBeLessThan(MOST);
  },
);
