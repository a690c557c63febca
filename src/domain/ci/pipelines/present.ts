/** Pipelines as records. */
import type { Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Surroundings } from '../../../kernel/users/records.ts';
import { type PipelineBasic, projectUrl } from '../../repositories/index.ts';
import type { Status } from '../processing/status.ts';
import { detailedStatus } from './detailed-status.ts';
import type { PipelineDetails, PipelineRow } from './queries.ts';
import type { Pipeline } from './schema.ts';
import { presentUser } from './user-columns.ts';

export const presentPipelineBasic = (
  baseUrl: string,
  project: Pick<AuthorizedProject, 'fullPath'>,
  row: Pick<PipelineRow, keyof PipelineBasic & keyof PipelineRow>,
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

const seconds = (from: Date, to: Date): number => Math.round((to.getTime() - from.getTime()) / 1_000);

export function presentPipeline(
  around: Surroundings,
  project: Pick<AuthorizedProject, 'fullPath'>,
  row: PipelineDetails,
): Static<typeof Pipeline> {
  return {
    ...presentPipelineBasic(around.baseUrl, project, row),
    before_sha: row.before_sha,
    tag: row.tag,
    yaml_errors: row.yaml_errors,
    user: presentUser(around, row),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    committed_at: null,
    duration: row.duration,
    queued_duration: row.started_at && seconds(row.created_at, row.started_at),
    coverage: row.coverage === null ? null : row.coverage.toFixed(2),
    // The column has a check of the same values.
    detailed_status: detailedStatus(
      row.status as Status,
      row.warnings,
      `/${project.fullPath}/-/pipelines/${row.id}`,
    ),
    archived: false,
    name: row.name,
  };
}
