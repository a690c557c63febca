/** Pipelines as records. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type PipelineBasic, projectUrl } from '../../repositories/index.ts';
import type { PipelineRow } from './queries.ts';

export const presentPipelineBasic = (
  baseUrl: string,
  project: Pick<AuthorizedProject, 'fullPath'>,
  row: PipelineRow,
): PipelineBasic => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  sha: row.sha,
  ref: row.ref,
  status: row.status,
  source: row.source,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  web_url: `${projectUrl(baseUrl, project)}/-/pipelines/${row.id}`,
});
