/** Protected environments of the project and the group, by the names of the users. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into protected_environments (project_id, namespace_id, name, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, username, now(), now()
      from person, generate_series(1, 2) x order by x, id;
    insert into protected_environment_access (protected_environment_id, access_level, group_inheritance_type)
      select id, 40, 0 from protected_environments`,
  objects: {
    'protected_environments/:name': {
      table: 'protected_environments',
      column: 'name',
      foreign: true,
      where: ({ project, group }, path) =>
        path.startsWith('/projects') ? `project_id = ${project}` : `namespace_id = ${group}`,
    },
  },
  requests: () => ({
    'POST /projects/:id/protected_environments': {
      with: { name: 'live', deploy_access_levels: [{ access_level: 40 }] },
    },
    'POST /groups/:id/protected_environments': {
      with: { name: 'production', deploy_access_levels: [{ access_level: 40 }] },
    },
    'PUT /projects/:id/protected_environments/:name': {
      with: { deploy_access_levels: [{ access_level: 30 }] },
    },
    'PUT /groups/:id/protected_environments/:name': {
      with: { deploy_access_levels: [{ access_level: 30 }] },
    },
  }),
};
