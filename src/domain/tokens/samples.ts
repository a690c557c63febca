/** Tokens of every kind; those of the project and the group belong to bots. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ user, group, project }) => `
    insert into users (username, name, email, kind, projects_limit, can_create_group, created_at, updated_at)
      select bot || '-' || id, 'Bot', bot || '-' || id || '@example.org', bot, 0, false, now(), now()
      from person, (values ('project_bot'), ('group_bot')) x(bot);
    insert into access_tokens (kind, digest, user_id, project_id, namespace_id, access_level, name, scopes, created_at, updated_at)
      select sort, sha256((sort || id)::bytea), ${user}, null::bigint, null::bigint, null::smallint, 'Token', array['api'], now(), now()
      from person, (values ('personal'), ('impersonation')) x(sort)
      union all
      select split_part(kind, '_', 1), sha256((kind || id)::bytea), id, case kind when 'project_bot' then ${project} end,
        case kind when 'group_bot' then ${group} end, 30, 'Token', array['api'], now(), now()
      from users where kind in ('project_bot', 'group_bot');
    insert into deploy_tokens (digest, project_id, namespace_id, name, username, scopes, created_by_id, created_at, updated_at)
      select sha256((x || username)::bytea), case x when 1 then ${project} end, case x when 2 then ${group} end, username, username,
        array['read_repository'], id, now(), now() from person, generate_series(1, 2) x order by id, x`,
  objects: {
    'access_tokens/:token_id': 'access_tokens',
    'deploy_tokens/:token_id': 'deploy_tokens',
    'personal_access_tokens/:id': {
      table: 'access_tokens',
      where: ({ user }) => `kind = 'personal' and user_id = ${user}`,
    },
    'impersonation_tokens/:impersonation_token_id': {
      table: 'access_tokens',
      where: ({ user }) => `kind = 'impersonation' and user_id = ${user}`,
    },
  },
  requests: async ({ userId, id }) => {
    const others = {
      at: { id: await id(`select min(id) id from access_tokens where user_id = ${userId('person-1')}`) },
    };
    const deploy = { with: { scopes: ['read_repository'] } };
    return {
      'POST /user/personal_access_tokens': { with: { scopes: ['k8s_proxy'] } },
      'GET /personal_access_tokens, of somebody else': { with: { user_id: userId('person-1') } },
      'GET /personal_access_tokens/:id, of somebody else': others,
      'DELETE /personal_access_tokens/:id, of somebody else': others,
      'POST /personal_access_tokens/:id/rotate, of somebody else': others,
      'POST /users/:user_id/impersonation_tokens': { with: { scopes: ['api'] } },
      'POST /projects/:id/access_tokens, as an Owner': { with: { access_level: 50 } },
      'POST /projects/:id/deploy_tokens': deploy,
      'POST /groups/:id/deploy_tokens': deploy,
    };
  },
  // The first is the one that the tests call with.
  objectForDelete: () => ({
    '/personal_access_tokens/:id': {
      at: { id: `select min(id) from access_tokens where kind = 'personal' and name = 'Token'` },
    },
  }),
};
