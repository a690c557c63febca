/** An alias of the project for each user. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into project_aliases (project_id, name, created_at)
      select ${project}, 'alias-of-' || username, now() from person order by id`,
  objects: { 'project_aliases/:name': { table: 'project_aliases', column: 'name', where: () => 'true' } },
  requests: ({ project }) => ({ 'POST /project_aliases': { with: { project_id: project, name: 'engine' } } }),
};
