/** Commits as records, with the database's data about them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { LineCounts } from '../../../platform/git/history/diff.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { presentCommit } from './records.ts';
import type { CommitDetail, ListedCommit, PipelineBasic } from './schema.ts';

/** The project's web address. */
export const projectUrl = (baseUrl: string, project: Pick<AuthorizedProject, 'fullPath'>): string =>
  `${baseUrl}/${project.fullPath}`;

export const presentListedCommit = (
  url: string,
  commit: Commit,
  options: { trailers?: boolean | undefined; stats?: LineCounts | undefined },
): ListedCommit => ({
  ...presentCommit(url, commit, options.trailers),
  ...(options.stats && { stats: options.stats }),
});

/** `stats` are left out where they were not counted. */
export function presentCommitDetail(
  baseUrl: string,
  project: Pick<AuthorizedProject, 'id' | 'fullPath'>,
  commit: Commit,
  sides: { stats?: LineCounts | undefined; pipeline?: PipelineBasic | undefined },
): CommitDetail {
  const url = projectUrl(baseUrl, project);
  return {
    ...presentListedCommit(url, commit, { trailers: true, stats: sides.stats }),
    status: sides.pipeline?.status ?? null,
    project_id: project.id,
    last_pipeline: sides.pipeline ?? null,
  };
}
