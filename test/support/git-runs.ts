/** Counts the runs of git, by what git itself tells of each. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitEnvironment } from '../../src/platform/git/program/program.ts';

/** How often each command of git was started while the work was done, in this process or for it. */
export async function gitRunsDuring(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'git-runs-'));
  // git makes a file for each run in it.
  gitEnvironment.GIT_TRACE2_EVENT = folder;
  try {
    await work();
    const counts: Record<string, number> = {};
    for (const name of readdirSync(folder)) {
      const [, command] =
        /"event":"cmd_name"[^\n]*?"name":"([^"]+)"/.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
      if (command !== undefined) counts[command] = (counts[command] ?? 0) + 1;
    }
    return counts;
  } finally {
    delete gitEnvironment.GIT_TRACE2_EVENT;
    rmSync(folder, { recursive: true });
  }
}
