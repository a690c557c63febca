/** A board for each user, of the project and of the group by turns; the first one of each has a list for each user. */
import type { Samples } from '../../../test/support/samples.ts';

const columns = 'created_at, updated_at';

export const samples: Samples = {
  after: ['planning/labels'],
  rows: ({ project, group }) => `
    insert into boards (project_id, namespace_id, name, ${columns})
      select case x when 1 then ${project} end, case x when 2 then ${group} end, username, now(), now()
      from person, generate_series(1, 2) x order by id, x;
    insert into board_lists (board_id, label_id, position, ${columns})
      select b.id, l.id, row_number() over (partition by b.id order by l.id), now(), now()
      from (select min(id) as id, project_id, namespace_id from boards group by 2, 3) b
      join labels l on l.project_id = b.project_id or l.namespace_id = b.namespace_id
      where l.name like '%person-%'`,
  guardedRows: ({ project, group }) => `
    insert into labels (project_id, name, color, created_at, updated_at)
      values (${project}, 'on-no-board', '#ff0000', now(), now());
    insert into labels (namespace_id, name, color, created_at, updated_at)
      values (${group}, 'of-no-board', '#ff0000', now(), now())`,
  ownRows: ({ project, group }) => `
    insert into boards (project_id, namespace_id, name, ${columns})
      select case x when 1 then ${project} end, case x when 2 then ${group} end, 'own', now(), now()
      from generate_series(1, 2) x`,
  objects: {
    'boards/:board_id': 'boards',
    'lists/:list_id': {
      table: 'board_lists',
      where: ({ project, group }, path) =>
        path.startsWith('/projects')
          ? `board_id = (select min(id) from boards where project_id = ${project})`
          : `board_id = (select min(id) from boards where namespace_id = ${group})`,
    },
  },
  requests: async (world) => ({
    'PUT /projects/:id/boards/:board_id/lists/:list_id': { with: { position: 1 } },
    'PUT /groups/:id/boards/:board_id/lists/:list_id': { with: { position: 1 } },
    'POST /projects/:id/boards/:board_id/lists': {
      with: { label_id: await world.id("select id from labels where name = 'on-no-board'") },
    },
    'POST /groups/:id/boards/:board_id/lists': {
      with: { label_id: await world.id("select id from labels where name = 'of-no-board'") },
    },
  }),
};
