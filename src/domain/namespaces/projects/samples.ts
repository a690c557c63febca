/** Groups that the project is shared with, projects that are shared with the group, and stars. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ user, group, project }) => `
    insert into project_group_links (project_id, group_id, group_access, created_at)
      select ${project}, id, 30, now() from namespaces where path like 'beside-%'
      union all select id, ${group}, 30, now() from projects where path = 'own';
    insert into stars (project_id, user_id, starred_at)
      select ${project}, id, now() from person union all select id, ${user}, now() from projects where path = 'own'`,
  guardedRows: ({ project }) => `
    insert into project_group_links (project_id, group_id, group_access, created_at)
      select ${project}, id, 50, now() from namespaces where path = 'part-2'`,
  guardedFill: ({ project }, { upload }) => upload('PUT', `/projects/${project}`, 'avatar'),
  objects: {
    'user/:user_id': { table: 'users', where: () => `username = 'person-1'` },
    'fork/:forked_from_id': { table: 'projects', where: ({ project }) => `id = ${project}` },
  },
  fields: {
    project_id: 'projects',
    from_project_id: 'projects',
    template_project_id: 'projects',
    namespace: { table: 'namespaces', column: 'full_path', where: `kind = 'group'` },
    namespace_path: { table: 'namespaces', column: 'full_path', where: `kind = 'group'` },
    forked_from_id: {
      table: `(select p.id, n.full_path || '/' || p.path as path from projects p join namespaces n on n.id = p.namespace_id) x`,
      column: 'path',
    },
  },
  requests: ({ group, project, groupId, projectId }) => {
    const [part, elsewhere] = [groupId('world/part-1'), groupId('elsewhere')];
    const fork = { path: 'a-fork', name: 'A fork' };
    return {
      'POST /projects': { with: { name: 'the-new' } },
      'POST /projects, in the group': { with: { name: 'the-new', namespace_id: group } },
      'POST /projects, out of sight': { with: { name: 'the-new', namespace_id: elsewhere } },
      'POST /projects, public': { with: { name: 'the-new', visibility: 'public' } },
      'POST /projects/user/:user_id': { with: { name: 'the-new' } },
      'GET /projects/:id, out of sight': { at: { project: projectId('elsewhere/elsewhere') } },
      'PUT /projects/:id, its name': { with: { name: 'renamed' } },
      'PUT /projects/:id, its branch': { with: { default_branch: 'person-1' } },
      'PUT /projects/:id, its parts': { with: { issues_access_level: 'private' } },
      'PUT /projects/:id, its storage': { with: { repository_storage: 'fast' } },
      'PUT /projects/:id/transfer': { with: { namespace: String(part) } },
      'PUT /projects/:id/transfer, out of sight': { with: { namespace: String(elsewhere) } },
      'PUT /projects/:id/transfer, beside': { with: { namespace: String(groupId('beside-1')) } },
      'POST /projects/:id/share': { with: { group_id: part } },
      'POST /projects/:id/share, as Owners': { with: { group_id: part, group_access: 50 } },
      'POST /projects/:id/share, with what is out of sight': { with: { group_id: elsewhere } },
      'POST /projects/:id/share, of a locked group': {
        at: { project: projectId('world/locked/inside') },
        with: { group_id: part },
      },
      'DELETE /projects/:id/share/:group_id, of Owners': { at: { group_id: groupId('world/part-2') } },
      'POST /projects/:id/fork/:forked_from_id': {
        at: { project: projectId('world/empty'), forked_from_id: project },
      },
      'POST /projects/:id/fork/:forked_from_id, of what is out of sight': {
        at: { project: projectId('world/empty'), forked_from_id: projectId('elsewhere/elsewhere') },
      },
      'DELETE /projects/:id/fork': { at: { project: projectId('world/forked') } },
      'POST /projects/:id/fork': { with: fork },
      'POST /projects/:id/fork, into the group': { with: { ...fork, namespace_id: group } },
      'POST /projects/:id/fork, into what is out of sight': { with: { ...fork, namespace_id: elsewhere } },
      'POST /projects/:id/restore': { at: { project: projectId('world/marked') } },
      'POST /projects/:id/unarchive': { at: { project: projectId('world/archived') } },
    };
  },
  lists: { 'GET /projects/:id/groups': { query: 'with_shared=true' } },
  objectForDelete: ({ group, project }) => ({
    '/projects/:id': { at: { project: `select max(id) from projects where namespace_id = ${group}` } },
    '/projects/:id/fork': {
      at: { project: `select min(id) from projects where forked_from_id = ${project}` },
    },
  }),
};
