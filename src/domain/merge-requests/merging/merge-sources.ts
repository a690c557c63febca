/** What the messages of a merge are made of, read at once. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { readBeginnings } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { authorOf } from '../../repositories/index.ts';
import { type MergeRequestRow, mergeRequestWebUrl } from '../records/merge-request-rows.ts';
import type { MessageSources } from '../texts/message-templates.ts';
import type { SelectedSources } from './queries.ts';

/** Characters of a message: what is longer is told by its title. */
const MAX_MESSAGE_LENGTH = 110_000;

/** The commits that messages tell of, oldest first: the first ones and the newest hundred. */
export async function readMessageCommits(git: GitFolder, newestFirst: readonly string[]): Promise<Commit[]> {
  const told = [...new Set([...newestFirst.slice(0, 100), ...newestFirst.slice(-20)])];
  return (await readBeginnings(git, told, MAX_MESSAGE_LENGTH)).reverse();
}

export const messageSources = (
  baseUrl: string,
  project: AuthorizedProject,
  row: MergeRequestRow,
  actor: Actor,
  { author, reviewers, approvers, closes }: SelectedSources,
  commits: readonly Commit[],
): MessageSources => ({
  iid: row.iid,
  fullPath: project.fullPath,
  url: mergeRequestWebUrl(baseUrl, project.fullPath, row.iid),
  sourceBranch: row.source_branch,
  targetBranch: row.target_branch,
  sourceProjectId: row.source_project_id,
  title: row.title,
  description: row.description,
  commits,
  closes,
  author,
  merger: authorOf(actor),
  reviewers,
  approvers,
});
