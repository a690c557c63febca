/** What the newest commits of merge requests fare by. */
import { type RawBuilder, sql } from 'kysely';

export type HeadPipeline = {
  merge_request_id: number;
  id: number;
  project_id: number;
  status: string;
  started_at: string | null;
  finished_at: string | null;
};

/** Of each merge request, the pipeline that its newest commit fares by: the newest one made for it, else of its branch. */
export const selectHeadPipelines = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select m.id as merge_request_id, p.id, p.project_id, p.status, p.started_at, p.finished_at
  from merge_requests m cross join lateral (
    select * from pipelines p where p.project_id in (m.project_id, m.source_project_id) and p.sha = m.head_sha
      and (p.merge_request_id = m.id or (p.project_id = m.source_project_id and p.ref = m.source_branch and not p.tag
        and p.source not in ('merge_request_event', 'parent_pipeline')))
    order by p.source = 'merge_request_event' desc, p.id desc limit 1) p
  where m.id = any(${ids})`;
