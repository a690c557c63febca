/** A pipeline schedule of each user, in the project; the first has a variable and a pipeline of each. */
import type { Samples } from '../../../../test/support/samples.ts';
import { seal } from '../../../platform/secret.ts';

const path = '/projects/:id/pipeline_schedules';

export const samples: Samples = {
  after: ['ci'],
  rows: ({ project }, { app }) => `
    insert into pipeline_schedules (project_id, owner_id, description, ref, cron, cron_timezone, active, next_run_at, inputs,
        created_at, updated_at)
      select ${project}, id, username, 'refs/heads/main', '@daily', 'UTC', true, now() + interval '1 day', '[]', now(), now()
      from person order by id;
    insert into pipeline_schedule_variables (schedule_id, key, value_sealed, variable_type, updated_at)
      select (select min(id) from pipeline_schedules), replace(username, '-', '_'),
        '${seal(app.services.secretKey, 'granite')}', 'env_var', now()
      from person order by id;
    update pipelines set schedule_id = (select min(id) from pipeline_schedules) where project_id = ${project}`,
  // Its owner alone changes it.
  guardedRows: () => `
    update pipeline_schedules set owner_id = (select id from users where username = 'the-owner')
      where id = (select min(id) from pipeline_schedules)`,
  ownRows: ({ user, project }) => `
    insert into pipeline_schedules (project_id, owner_id, description, ref, cron, cron_timezone, active, next_run_at, inputs,
        created_at, updated_at)
      values (${project}, ${user}, 'own', 'refs/heads/main', '@daily', 'UTC', true, now() + interval '1 day', '[]', now(), now())`,
  objects: {
    'pipeline_schedules/:pipeline_schedule_id': 'pipeline_schedules',
  },
  requests: () => ({
    [`POST ${path}`]: { with: { description: 'Nightly', ref: 'main', cron: '@daily' } },
    [`POST ${path}/:pipeline_schedule_id/variables`]: { with: { key: 'NEW', value: 'new' } },
  }),
};
