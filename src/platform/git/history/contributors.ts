/** Contributors to a history. */

import { decode } from '../parse.ts';
import { gitInTime } from '../program/long-runs.ts';
import { createCommitCache } from './commit-cache.ts';

export type Contributor = { name: string; email: string; commits: number };

const cache = createCommitCache<Contributor[]>(200);

/** Authors of commits other than merges, at or before this one, each address once. */
export const contributorsOf = (folder: string, commit: string): Promise<readonly Contributor[]> =>
  cache(`${folder} ${commit}`, async () =>
    parseShortlog(
      // The mailmap of this commit, not that of HEAD.
      await gitInTime(
        [
          '-c',
          `mailmap.blob=${commit}:.mailmap`,
          'shortlog',
          '--summary',
          '--numbered',
          '--email',
          '--no-merges',
          commit,
        ],
        { folder },
      ),
    ),
  );

const line = /^ *(\d+)\t(.*?) ?<([^<>]*)>$/;

/** Parses `git shortlog -sne`; of the names of one address, the one with most commits stays. */
export function parseShortlog(output: Buffer): Contributor[] {
  const found = new Map<string, Contributor>();
  for (const text of decode(output).split('\n')) {
    const [, count, name = '', email = ''] = line.exec(text) ?? [];
    if (count === undefined) continue;
    const known = found.get(email);
    if (known) known.commits += Number(count);
    else found.set(email, { name, email, commits: Number(count) });
  }
  return [...found.values()];
}
