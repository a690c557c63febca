/** An environment of each user in the project, to which each has deployed. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into environments (project_id, name, slug, tier, state, auto_stop_setting, created_at, updated_at)
      select ${project}, username, username, 'other', 'stopped', 'always', now(), now() from person order by id;
    insert into deployments (project_id, environment_id, iid, user_id, ref, sha, tag, status, finished_at, created_at, updated_at)
      select ${project}, (select max(id) from environments where project_id = ${project}), row_number() over (order by id), id, 'main',
        repeat('1', 40), false, 'failed', now(), now(), now()
      from person order by id;
    insert into project_counters (project_id, deployments) select ${project}, count(*) from person
      on conflict (project_id) do update set deployments = excluded.deployments`,
  objects: {
    'environments/:environment_id': 'environments',
    'deployments/:deployment_id': 'deployments',
  },
  requests: () => ({
    'POST /projects/:id/environments': { with: { name: 'review/granite' } },
    'PUT /projects/:id/environments/:environment_id': { with: { external_url: 'https://example.com' } },
    'POST /projects/:id/deployments': {
      with: { environment: 'production', sha: 'main', ref: 'main', tag: false, status: 'success' },
    },
    'PUT /projects/:id/deployments/:deployment_id': { with: { status: 'success' } },
    'POST /projects/:id/environments/stop_stale': { with: { before: '2020-01-01T00:00:00Z' } },
  }),
};
