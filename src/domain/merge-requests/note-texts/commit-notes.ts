/** The system note about commits that were pushed to a merge request (facts-merge-requests §8.2). Pure. */
import { shortSha, titleOf } from '../../../platform/git/commit-texts.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { escapeText } from '../../markdown/index.ts';
import type { SystemNote } from '../../work-items/index.ts';
import { fittingTitle } from '../texts/titles.ts';

export type PushedCommits = {
  /** The new commits of the merge request, oldest first. */
  added: readonly Pick<Commit, 'oid' | 'message'>[];
  /** Other pushed commits, oldest first: they came with the target branch. */
  existing: readonly Pick<Commit, 'oid'>[];
  /** The source branch's commit before the push; NO_OBJECT where the branch was restored. */
  before: string;
  targetBranch: string;
  /** The full path of the target project's namespace, for a merge request from a fork. */
  targetNamespace: string | undefined;
  /** The merge request's address without the host. */
  path: string;
  /** The new diff version. */
  diffId: number;
};

/** Commits before these are told as one line. */
const MAX_LISTED_COMMITS = 10;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** One commit, or the commits since another one, which is not one of them; without it since the first. */
function rangeOf(commits: readonly Pick<Commit, 'oid'>[], since: string): string {
  const first = shortSha(commits[0]?.oid ?? '');
  const last = shortSha(commits.at(-1)?.oid ?? '');
  if (commits.length === 1) return first;
  return since === NO_OBJECT ? `${first}..${last}` : `${shortSha(since)}...${last}`;
}

function existingLine({ existing, before, targetBranch, targetNamespace }: PushedCommits): string[] {
  if (existing.length === 0) return [];
  const branch = targetNamespace === undefined ? targetBranch : `${targetNamespace}:${targetBranch}`;
  const commits = counted(existing.length, 'commit');
  return [`${rangeOf(existing, before)} - ${commits} from branch <code>${escapeText(branch)}</code>`];
}

function addedLines({ added, existing, before }: PushedCommits): string[] {
  const earlier = added.slice(0, Math.max(0, added.length - MAX_LISTED_COMMITS));
  const since = existing.at(-1)?.oid ?? before;
  return [
    ...(earlier.length > 0
      ? [`${rangeOf(earlier, since)} - ${counted(earlier.length, 'earlier commit')}`]
      : []),
    ...added
      .slice(earlier.length)
      .map(({ oid, message }) => `${shortSha(oid)} - ${escapeText(fittingTitle(titleOf(message)))}`),
  ];
}

/** The note of a push, forced or not: what the branch has since and had not before. Undefined without any commit. */
export function commitNote(pushed: PushedCommits): SystemNote | undefined {
  const { added, existing, before, path, diffId } = pushed;
  const count = added.length + existing.length;
  if (count === 0) return undefined;
  const lines = [...existingLine(pushed), ...addedLines(pushed)].map((line) => `<li>${line}</li>`);
  const since = before === NO_OBJECT ? '' : `&start_sha=${before}`;
  const parts = [
    `added ${counted(count, 'commit')}`,
    `<ul>${lines.join('')}</ul>`,
    `[Compare with previous version](${path}/diffs?diff_id=${diffId}${since})`,
  ];
  return { action: 'commit', body: parts.join('\n\n') };
}
