/** Comparisons as records. */
import type { Arriving } from '../../../platform/arriving.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { presentCommit } from '../commits/records.ts';
import type { Comparison } from './queries.ts';
import type { Compare } from './schema.ts';

/** `url` is the web address of the project of `to`. */
export async function presentComparison(url: string, compared: Comparison): Promise<Arriving<Compare>> {
  const { from, to, base, diff, more } = compared;
  const commits = await mapInTurns(compared.commits, (commit) => presentCommit(url, commit));
  return {
    commit: commits.at(-1) ?? null,
    commits,
    diffs: diff.files,
    compare_timeout: () => more || diff.overflow(),
    compare_same_ref: from.oid === to.oid,
    web_url: `${url}/-/compare/${base}...${to.oid}`,
  };
}
