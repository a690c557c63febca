/** Groups that the group is shared with, and that are shared with it. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ group }) => `
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access, created_at)
      select ${group}, id, 30, now() from namespaces where path like 'beside-%'
      union all select id, ${group}, 30, now() from namespaces where path like 'beside-%'`,
  guardedFill: ({ group }, { upload }) => upload('PUT', `/groups/${group}`, 'avatar'),
  objects: {
    'projects/:project_id': { table: 'projects', where: ({ project }) => `id = ${project}` },
    'share/:group_id': { table: 'namespaces', where: () => `path like 'beside-%'` },
  },
  fields: {
    group_id: { table: 'namespaces', where: `kind = 'group'` },
    parent_id: { table: 'namespaces', where: `kind = 'group'` },
    namespace_id: { table: 'namespaces', where: `kind = 'group'` },
  },
  requests: ({ group, groupId }) => {
    const [part, elsewhere, beside] = [groupId('world/part-1'), groupId('elsewhere'), groupId('beside-1')];
    return {
      'POST /groups, in the group': { with: { path: 'the-new', parent_id: group } },
      'POST /groups, out of sight': { with: { path: 'the-new', parent_id: elsewhere } },
      'GET /groups/:id, out of sight': { at: { group: elsewhere } },
      'PUT /groups/:id, its lock': { with: { share_with_group_lock: true } },
      'POST /groups/:id/restore': { at: { group: groupId('world/marked') } },
      'POST /groups/:id/unarchive': { at: { group: groupId('world/archived') } },
      'POST /groups/:id/transfer': { at: { group: part } },
      'POST /groups/:id/transfer, out of sight': { at: { group: part }, with: { group_id: elsewhere } },
      'POST /groups/:id/transfer, beside': { at: { group: part }, with: { group_id: beside } },
      'POST /groups/:id/projects/:project_id': { at: { group: part } },
      'POST /groups/:id/share': { with: { group_id: part } },
      'POST /groups/:id/share, with what is out of sight': { with: { group_id: elsewhere } },
    };
  },
  objectForDelete: () => ({
    '/groups/:id': { at: { group: `select min(id) from namespaces where path like 'part-%'` } },
  }),
};
