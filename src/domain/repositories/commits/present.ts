/** Commits as records, with the database's data about them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { LineCounts } from '../../../platform/git/history/diff.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { presentCommit } from './records.ts';
import type { CommitDetail, ListedCommit, PipelineBasic } from './schema.ts';
import type { PipelineRow } from './status-queries.ts';
import { pipelineStatus } from './status-rules.ts';

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

const presentPipeline = (url: string, row: PipelineRow): PipelineBasic => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  sha: row.sha,
  ref: row.ref,
  status: pipelineStatus(row.statuses),
  source: 'external',
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  web_url: `${url}/-/pipelines/${row.id}`,
});

/** `stats` are left out where they were not counted. */
export function presentCommitDetail(
  baseUrl: string,
  project: Pick<AuthorizedProject, 'id' | 'fullPath'>,
  commit: Commit,
  sides: { stats?: LineCounts | undefined; pipeline?: PipelineRow | undefined },
): CommitDetail {
  const url = projectUrl(baseUrl, project);
  const pipeline = sides.pipeline ? presentPipeline(url, sides.pipeline) : null;
  return {
    ...presentListedCommit(url, commit, { trailers: true, stats: sides.stats }),
    status: pipeline?.status ?? null,
    project_id: project.id,
    last_pipeline: pipeline,
  };
}
