/** Comparisons as records. */
import { presentCommit } from '../commits/records.ts';
import type { Comparison } from './queries.ts';
import type { Compare } from './schema.ts';

/** `url` is the web address of the project of `to`. */
export function presentComparison(url: string, compared: Comparison): Compare {
  const { from, to, base, diff, more } = compared;
  const commits = compared.commits.map((commit) => presentCommit(url, commit));
  return {
    commit: commits.at(-1) ?? null,
    commits,
    diffs: diff.files,
    compare_timeout: diff.overflow || more,
    compare_same_ref: from.oid === to.oid,
    web_url: `${url}/-/compare/${base}...${to.oid}`,
  };
}
