/** The projects and groups whose jobs use the project, as many of each as there are users. */
import type { Samples } from '../../../../test/support/samples.ts';

const listed = (column: string) => ({
  table: 'job_token_allowlist',
  column,
  where: ({ project }: { project: number }) => `project_id = ${project} and ${column} is not null`,
});

export const samples: Samples = {
  after: ['namespaces/projects'],
  rows: ({ project }) => `
    insert into job_token_allowlist (project_id, allowed_project_id, created_at)
      select ${project}, id, now() from projects where id <> ${project} order by id limit (select count(*) from person);
    insert into job_token_allowlist (project_id, allowed_namespace_id, created_at)
      select ${project}, id, now() from namespaces where kind = 'group' order by id limit (select count(*) from person)`,
  objects: {
    'allowlist/:target_project_id': listed('allowed_project_id'),
    'groups_allowlist/:target_group_id': listed('allowed_namespace_id'),
  },
  fields: {
    target_project_id: 'projects',
    target_group_id: { table: 'namespaces', where: `kind = 'group'` },
  },
  requests: ({ projectId, groupId }) => ({
    'POST /projects/:id/job_token_scope/allowlist': { with: { target_project_id: projectId('world/empty') } },
    'POST /projects/:id/job_token_scope/groups_allowlist': {
      with: { target_group_id: groupId('world/archived') },
    },
    'PATCH /projects/:id/job_token_scope': { with: { enabled: false } },
  }),
};
