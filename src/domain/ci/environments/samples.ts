/** An environment of each user in the project, to which each has deployed. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['ci', 'ci/protected-environments'],
  // One that waits for an approval by a Maintainer.
  guardedRows: ({ project }) => `
    update protected_environments set required_approval_count = 1
      where project_id = ${project} and name = (select name from environments where project_id = ${project} order by id desc limit 1);
    insert into deployments (project_id, environment_id, iid, job_id, user_id, ref, sha, tag, status, created_at, updated_at)
      select ${project}, max(id), 1000, (select max(id) from ci_jobs where kind = 'job' and status = 'manual'),
        (select min(id) from users), 'main', repeat('1', 40), false, 'blocked', now(), now()
      from environments where project_id = ${project}`,
  rows: ({ project }) => `
    insert into environments (project_id, name, slug, tier, state, auto_stop_setting, created_at, updated_at)
      select ${project}, username, username, 'other', 'stopped', 'always', now(), now() from person order by id;
    insert into deployments (project_id, environment_id, iid, user_id, ref, sha, tag, status, finished_at, created_at, updated_at)
      select ${project}, (select max(id) from environments where project_id = ${project}), row_number() over (order by id), id, 'main',
        repeat('1', 40), false, 'failed', now(), now(), now()
      from person order by id;
    insert into project_counters (project_id, deployments) select ${project}, count(*) from person
      on conflict (project_id) do update set deployments = excluded.deployments`,
  ownRows: ({ user, project }) => `
    insert into environments (project_id, name, slug, tier, state, auto_stop_setting, created_at, updated_at)
      values (${project}, 'own', 'own', 'other', 'available', 'always', now(), now());
    insert into deployments (project_id, environment_id, iid, user_id, ref, sha, tag, status, created_at, updated_at)
      select ${project}, id, 1, ${user}, 'main', repeat('1', 40), false, 'created', now(), now()
      from environments where project_id = ${project}`,
  lists: { 'GET /projects/:id/deployments/:deployment_id/merge_requests': 'empty' },
  objects: {
    'environments/:environment_id': 'environments',
    'deployments/:deployment_id': 'deployments',
  },
  requests: async ({ id }) => ({
    'POST /projects/:id/deployments/:deployment_id/approval': {
      at: { deployment_id: await id('select max(id) as id from deployments') },
      with: { status: 'approved' },
    },
    'POST /projects/:id/environments': { with: { name: 'review/granite' } },
    'PUT /projects/:id/environments/:environment_id': { with: { external_url: 'https://example.com' } },
    'POST /projects/:id/deployments': {
      with: { environment: 'production', sha: 'main', ref: 'main', tag: false, status: 'success' },
    },
    'PUT /projects/:id/deployments/:deployment_id': { with: { status: 'success' } },
    'POST /projects/:id/environments/stop_stale': { with: { before: '2020-01-01T00:00:00Z' } },
  }),
};
