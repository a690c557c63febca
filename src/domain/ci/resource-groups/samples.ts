/** Resource groups of the project, by the names of the users; the first is used by a job, and others wait for it. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['ci'],
  rows: ({ project }) => `
    insert into resource_groups (project_id, key, created_at, updated_at)
      select ${project}, username, now(), now() from person order by id;
    insert into ci_jobs (pipeline_id, project_id, kind, stage, stage_index, name, status, resource_group_id, user_id, created_at, updated_at)
      select (select max(id) from pipelines where source = 'push'), ${project}, 'job', 'test', 1, 'group ' || username || ' ' || s, s,
        (select min(id) from resource_groups where project_id = ${project}), id, now(), now()
      from person, unnest('{running,waiting_for_resource}'::text[]) s
      where s <> 'running' or id = (select min(id) from person) order by id;
    update pipelines set on_new_commit = 'none' where id = (select max(id) from pipelines where source = 'push')`,
  objects: { 'resource_groups/:key': { table: 'resource_groups', column: 'key', foreign: true } },
  requests: () => ({
    'PUT /projects/:id/resource_groups/:key': { with: { process_mode: 'oldest_first' } },
  }),
};
