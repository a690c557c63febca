/** A mirror of each user that the project is pushed to, and the one that it is pulled from; none is due. */
import type { Samples } from '../../../test/support/samples.ts';

const url = 'https://git.invalid/there.git';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into mirrors (project_id, kind, enabled, url, user_id, overwrites, status, created_at, updated_at)
      select ${project}, 'push', id = (select min(id) from person), '${url}?' || username, id, true, 'none', now(), now()
      from person order by id;
    insert into mirrors (project_id, kind, enabled, url, user_id, status, created_at, updated_at)
      select ${project}, 'pull', true, '${url}', min(id), 'scheduled', now(), now() from person`,
  ownRows: ({ user, project }) => `
    insert into mirrors (project_id, kind, enabled, url, user_id, overwrites, status, created_at, updated_at)
      values (${project}, 'push', false, '${url}', ${user}, true, 'none', now(), now())`,
  objects: {
    'remote_mirrors/:mirror_id': {
      table: 'mirrors',
      where: ({ project }) => `project_id = ${project} and kind = 'push'`,
    },
  },
  // Administrators name anybody.
  fields: { mirror_user_id: null },
  requests: () => ({
    'PUT /projects/:id/mirror/pull': { with: { url } },
    'POST /projects/:id/remote_mirrors': { with: { url } },
  }),
};
