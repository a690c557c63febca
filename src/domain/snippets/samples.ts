/** Snippets of root, and of each user without a project and in it. */
import type { Samples } from '../../../test/support/samples.ts';

const created = { with: { file_name: 'new', content: 'Hello' } };
const changed = { with: { title: 'New' } };

export const samples: Samples = {
  rows: ({ user, project }) => `
    insert into snippets (project_id, author_id, title, visibility, repository_storage, ready, created_at, updated_at)
      select case x when 3 then ${project} end, case x when 1 then ${user} else id end, username, 20, 'default', true, now(), now()
      from person, generate_series(1, 3) x order by username, x`,
  /** With files; then the author of the world becomes theirs. */
  async guardedFill({ project }, { call, sql }) {
    const body = { title: 'kept', file_name: 'person-1', content: 'Hello', visibility: 'private' };
    await call('POST /snippets', { body });
    await call(`POST /projects/${project}/snippets`, { body: { ...body, title: 'of another' } });
    await call(`POST /projects/${project}/snippets`, { body });
    await sql.unsafe(`
      update snippets set author_id = (select id from users where username = 'person-1'),
        user_agent = 'one', ip_address = '127.0.0.1' where title = 'kept';
      update snippets set author_id = (select id from users where username = 'person-2') where title = 'of another'`);
  },
  ownRows: ({ user, project }) => `
    insert into snippets (project_id, author_id, title, visibility, ready, repository_storage, created_at, updated_at)
      values (${project}, ${user}, 'own', 0, true, 'default', now(), now())`,
  objects: {
    // Those with files are made by requests, after the others.
    'snippets/:id': {
      table: 'snippets',
      where: (_, path) =>
        path.includes('storage_moves')
          ? 'id = (select min(id) from snippets where project_id is null)'
          : 'project_id is null',
      newest: true,
    },
    'snippets/:snippet_id': { table: 'snippets', newest: true },
    'snippets/:noteable_id': 'snippets',
    'files/:ref': { value: 'main' },
    ':ref/:file_path': { value: 'person-1' },
  },
  requests: async ({ id }) => {
    const others = { snippet_id: await id(`select id from snippets where title = 'of another'`) };
    return {
      'POST /snippets': created,
      'PUT /snippets/:id': changed,
      'POST /projects/:id/snippets': created,
      'PUT /projects/:id/snippets/:snippet_id': changed,
      'GET /projects/:id/snippets/:snippet_id, of somebody else': { at: others },
      'PUT /projects/:id/snippets/:snippet_id, of somebody else': { at: others, ...changed },
      'DELETE /projects/:id/snippets/:snippet_id, of somebody else': { at: others },
    };
  },
};
