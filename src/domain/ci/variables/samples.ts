/** Variables of the project, the group and the instance, by the names of the users. */
import type { Samples } from '../../../../test/support/samples.ts';
import { seal } from '../../../platform/secret.ts';

const homes = ['/projects/:id/variables', '/groups/:id/variables', '/admin/ci/variables'];

/** Schedules of pipelines have variables of their own, below schedules/. */
const ofSchedule = (path: string): boolean => path.includes('/pipeline_schedules/');

export const samples: Samples = {
  rows: ({ project, group }, { app }) => `
    insert into ci_variables (project_id, namespace_id, key, value_sealed, variable_type, protected, masked, hidden, raw,
        environment_scope, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, replace(username, '-', '_'),
        '${seal(app.services.secretKey, 'granite')}', 'env_var', false, false, false, false, '*', now(), now()
      from person, generate_series(1, 3) x order by x, id`,
  objects: {
    'variables/:key': {
      table: (path) => (ofSchedule(path) ? 'pipeline_schedule_variables' : 'ci_variables'),
      column: 'key',
      foreign: true,
      where: ({ project, group }, path) => {
        if (ofSchedule(path))
          return `schedule_id = (select min(id) from pipeline_schedules where project_id = ${project})`;
        if (path.startsWith('/projects')) return `project_id = ${project}`;
        if (path.startsWith('/groups')) return `namespace_id = ${group}`;
        return 'project_id is null and namespace_id is null';
      },
    },
  },
  requests: () =>
    Object.fromEntries(homes.map((path) => [`POST ${path}`, { with: { key: 'NEW', value: 'new' } }])),
};
