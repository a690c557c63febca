/** Members of the project and of the group, and who waits to be one: by request, and by invitation. */

import type { Samples } from '../../../../test/support/samples.ts';
import { seal } from '../../../platform/secret.ts';

export const samples: Samples = {
  rows: ({ user, project, group }, { app }) => `
    insert into members (user_id, project_id, namespace_id, access_level, created_by_id, created_at, updated_at)
      select id, ${project}, null::bigint, 30, id, now(), now() from person
      union all select id, null, ${group}, 20, id, now(), now() from person
      union all select ${user}, null, n.id, 50, p.id, now(), now()
        from namespaces n join person p on n.path = 'beside-' || substr(p.username, 8);
    insert into awaiting_members (id, user_id, namespace_id, access_level, created_by_id, created_at, updated_at)
      select nextval(pg_get_serial_sequence('members', 'id')), id, ${group}, 20, id, now(), now() from person order by id;
    insert into access_requests (user_id, project_id, namespace_id, requested_at)
      select id, ${project}, null::bigint, now() from person union all select id, null, ${group}, now() from person;
    insert into invitations (project_id, namespace_id, email, token_sealed, token_digest, access_level, created_by_id, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, username || '@example.net',
        '${seal(app.services.secretKey, 'invitation')}', sha256((x || username)::bytea), 30, id, now(), now() from person, generate_series(1, 2) x order by id, x`,
  guardedRows: ({ project, group }) => `
    insert into members (user_id, project_id, namespace_id, access_level, created_at, updated_at)
      select id, ${project}, null::bigint, 50, now(), now() from users where username = 'the-chief'
      union all select id, null, ${group}, 50, now(), now() from users where username = 'the-head';
    insert into invitations (project_id, namespace_id, email, token_sealed, token_digest, access_level, created_by_id, created_at, updated_at)
      select project_id, namespace_id, 'chief@example.net', token_sealed, sha256('chief' || token_digest), 50, created_by_id, now(), now()
      from invitations where email = 'person-1@example.net';
    insert into access_requests (user_id, project_id, namespace_id, requested_at)
      select id, project, "group", now() from users,
        (values (${project}::bigint, null::bigint), (null::bigint, ${group}::bigint)) x(project, "group")
      where username = 'the-asking'`,
  objects: {
    'members/:user_id': { table: 'members', column: 'user_id' },
    'members/:member_id': 'awaiting_members',
    'all/:user_id': { table: 'members', column: 'user_id' },
    'access_requests/:user_id': { table: 'access_requests', column: 'user_id' },
    'invitations/:email': { table: 'invitations', column: 'email', foreign: true },
    'import_project_members/:project_id': { table: 'projects', where: ({ project }) => `id = ${project}` },
  },
  requests: ({ userId, projectId }) => {
    const [outsider, other] = [userId('the-outsider'), userId('person-2')];
    const asking = { user_id: userId('the-asking') };
    const invited = { with: { email: 'new@example.net' } };
    return {
      'POST /projects/:id/members': { with: { user_id: outsider } },
      'POST /projects/:id/members, as an Owner': { with: { user_id: outsider, access_level: 50 } },
      'POST /groups/:id/members': { with: { user_id: outsider } },
      'PUT /projects/:id/members/:user_id, to Owner': { at: { user_id: other }, with: { access_level: 50 } },
      'PUT /projects/:id/members/:user_id, of an Owner': { at: { user_id: userId('the-chief') } },
      'DELETE /projects/:id/members/:user_id, of somebody else': { at: { user_id: other } },
      'DELETE /projects/:id/members/:user_id, of an Owner': { at: { user_id: userId('the-chief') } },
      'PUT /groups/:id/members/:user_id, to Owner': { at: { user_id: other }, with: { access_level: 50 } },
      'DELETE /groups/:id/members/:user_id, of somebody else': { at: { user_id: other } },
      'DELETE /groups/:id/members/:user_id, of an Owner': { at: { user_id: userId('the-head') } },
      'PUT /groups/:id/members/:user_id/state': { at: { user_id: other }, with: { state: 'awaiting' } },
      'POST /projects/:id/invitations': invited,
      'POST /projects/:id/invitations, as an Owner': { with: { ...invited.with, access_level: 50 } },
      'POST /groups/:id/invitations': invited,
      'PUT /projects/:id/invitations/:email, to Owner': { with: { access_level: 50 } },
      'PUT /projects/:id/invitations/:email, of an Owner': {
        at: { email: 'chief@example.net' },
        with: { access_level: 10 },
      },
      'DELETE /projects/:id/invitations/:email, of an Owner': { at: { email: 'chief@example.net' } },
      'PUT /projects/:id/access_requests/:user_id/approve': { at: asking },
      'PUT /projects/:id/access_requests/:user_id/approve, as an Owner': {
        at: asking,
        with: { access_level: 50 },
      },
      'PUT /groups/:id/access_requests/:user_id/approve': { at: asking },
      'DELETE /projects/:id/access_requests/:user_id, of somebody else': { at: asking },
      'DELETE /groups/:id/access_requests/:user_id, of somebody else': { at: asking },
      'POST /projects/:id/import_project_members/:project_id, from where one manages nothing': {
        at: { project_id: projectId('person-1/own') },
      },
      'POST /projects/:id/import_project_members/:project_id, from out of sight': {
        at: { project_id: projectId('elsewhere/elsewhere') },
      },
    };
  },
};
