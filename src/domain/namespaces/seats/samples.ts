/** Members with a seat are the members of the group; the first one is a member of more below it, and of groups with which it is shared. */
import type { Samples } from '../../../../test/support/samples.ts';

const first = (group: number | undefined) =>
  `(select min(user_id) from members where namespace_id = ${group})`;

export const samples: Samples = {
  after: ['namespaces/groups', 'namespaces/members'],
  rows: ({ group }) => `
    insert into members (user_id, namespace_id, access_level, created_at, updated_at)
      select ${first(group)}, n.id, 20, now(), now() from namespaces n
      where n.path like 'part-%' or n.path like 'beside-%' order by n.id
      on conflict do nothing`,
  objects: {
    'billable_members/:user_id': {
      table: 'members',
      column: 'user_id',
      where: ({ group }) => `namespace_id = ${group} and access_level >= 20`,
    },
  },
  objectForDelete: ({ group }) => ({
    '/groups/:id/billable_members/:user_id': {
      at: { user_id: `select max(user_id) from members where namespace_id = ${group} and access_level = 20` },
    },
  }),
};
