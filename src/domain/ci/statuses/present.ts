/** Statuses of commits as records. */
import type { Surroundings } from '../../../kernel/users/records.ts';
import { presentUser } from '../pipelines/user-columns.ts';
import type { StatusRow } from './queries.ts';
import type { CommitStatus } from './schema.ts';

export const presentStatus = (around: Surroundings, row: StatusRow): CommitStatus => ({
  id: row.id,
  sha: row.sha,
  ref: row.ref,
  status: row.status,
  name: row.name,
  target_url: row.target_url,
  description: row.description,
  created_at: row.created_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  finished_at: row.finished_at?.toISOString() ?? null,
  allow_failure: row.allow_failure,
  coverage: row.coverage,
  pipeline_id: row.pipeline_id,
  author: presentUser(around, row),
});
