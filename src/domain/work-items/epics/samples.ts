/** Epic 1 of the group by root, and one below it by each user, which the first is linked to. */
import type { SampleIds } from '../../../../test/support/inventory.ts';
import type { Samples } from '../../../../test/support/samples.ts';

const first = ({ group }: SampleIds): string => `namespace_id = ${group} and iid = 1`;

export const samples: Samples = {
  after: ['planning/labels', 'planning/milestones'],
  rows: ({ user, group }) => `
    insert into epics (iid, namespace_id, author_id, title, relative_position, created_at, updated_at)
      values (1, ${group}, ${user}, 'world', 0, now(), now());
    insert into epics (iid, namespace_id, author_id, parent_id, title, relative_position, created_at, updated_at)
      select 1 + row_number() over (order by p.id), ${group}, p.id, e.id, p.username, p.id, now(), now()
      from person p, epics e order by 1;
    update group_counters set epics = (select max(iid) from epics) where namespace_id = ${group};
    insert into related_epic_links (source_id, target_id, link_type, created_at, updated_at)
      select parent_id, id, 'relates_to', now(), now() from epics where parent_id is not null order by id;
    insert into label_links (label_id, epic_id)
      select l.id, e.id from epics e join labels l on l.namespace_id = ${group} and l.name = 'of-' || e.title`,
  guardedRows: ({ group }) => `
    insert into epics (iid, namespace_id, author_id, title, confidential, relative_position, created_at, updated_at)
      select 4, ${group}, id, 'free', false, 9, now(), now() from person where username = 'person-1'
      union all
      select 5, ${group}, id, 'confidential', true, 13, now(), now() from person where username = 'person-2'
      union all
      select 1, n.id, p.id, 'elsewhere', false, 14, now(), now() from person p, namespaces n
        where p.username = 'person-2' and n.path = 'elsewhere';
    update group_counters set epics = 5`,
  ownRows: ({ user, group }) => `
    insert into epics (iid, namespace_id, author_id, title, relative_position, created_at, updated_at)
      values (1, ${group}, ${user}, 'own', 0, now(), now()), (2, ${group}, ${user}, 'below', 0, now(), now());
    update epics set parent_id = (select id from epics where namespace_id = ${group} and iid = 1)
      where namespace_id = ${group} and iid = 2`,
  objects: {
    'epics/:epic_iid': { table: 'epics', column: 'iid' },
    'epics/:noteable_id': {
      table: 'epics',
      column: (path) => (path.includes('/award_emoji') ? 'iid' : 'id'),
      where: first,
    },
    'epics/:eventable_id': { table: 'epics', column: 'iid', where: first },
    'epics/:child_epic_id': {
      table: 'epics',
      where: ({ group }) => `namespace_id = ${group} and parent_id is not null`,
    },
    'related_epics/:related_epic_link_id': {
      table: 'related_epic_links',
      where: ({ group }) => `source_id in (select id from epics where namespace_id = ${group})`,
    },
  },
  fields: {
    epic_id: 'epics',
    parent_id: 'epics',
    move_after_id: 'epics',
    move_before_id: 'epics',
    target_group_id: { table: 'namespaces', where: `kind = 'group'` },
  },
  requests: async ({ group, groupId, id }) => {
    const free = { at: { child_epic_id: await id(`select id from epics where title = 'free'`) } };
    const elsewhere = await id(`select id from epics where title = 'elsewhere'`);
    return {
      'GET /groups/:id/epics/:epic_iid, confidential': { at: { epic_iid: 5 } },
      'PUT /groups/:id/epics/:epic_iid, its title': { with: { title: 'New' } },
      'PUT /groups/:id/epics/:epic_iid, confidential': { at: { epic_iid: 5 }, with: { title: 'New' } },
      'PUT /groups/:id/epics/:epic_iid, its parent': { with: { parent_id: elsewhere } },
      'POST /groups/:id/epics/:epic_iid/epics/:child_epic_id': free,
      'POST /groups/:id/-/epics/:epic_iid/epics/:child_epic_id': free,
      'POST /groups/:id/epics/:epic_iid/epics/:child_epic_id, from out of sight': {
        at: { child_epic_id: elsewhere },
      },
      'POST /groups/:id/epics/:epic_iid/related_epics': {
        with: { target_group_id: String(group), target_epic_iid: 4 },
      },
      'POST /groups/:id/epics/:epic_iid/related_epics, from out of sight': {
        with: { target_group_id: String(groupId('elsewhere')), target_epic_iid: 1 },
      },
    };
  },
};
