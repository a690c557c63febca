/** Addresses of root, followers in both directions, and an identity. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ user }) => `
    insert into emails (user_id, email, confirmed_at, created_at, updated_at)
      select ${user}, 'root-' || id || '@example.org', now(), now(), now() from person order by id;
    insert into follows (follower_id, followee_id, created_at)
      select ${user}, id, now() from person union all select id, ${user}, now() from person;
    insert into identities (user_id, provider, extern_uid) values (${user}, 'openid_connect', 'one')`,
  guardedRows: () =>
    `update users set otp_enabled_at = now(), otp_secret_sealed = 'sealed' where username = 'person-2'`,
  guardedFill: (_, { upload }) => upload('PUT', '/user/avatar', 'avatar'),
  objects: {
    'emails/:email_id': {
      table: 'emails',
      where: ({ user }) => `user_id = ${user} and email like 'root-%'`,
    },
    'enterprise_users/:user_id': {
      table: 'users',
      where: ({ group }) => `enterprise_group_id = ${group}`,
    },
    'identities/:provider': { table: 'identities', column: 'provider' },
  },
  fields: { user_id: null, user_ids: null, author_id: null, color_scheme_id: null, theme_id: null },
  requests: ({ userId }) => ({
    'POST /users': { with: { force_random_password: true } },
    'DELETE /users/:id': { at: { user: userId('the-deletable') } },
    'POST /users/:id/block': { at: { user: userId('person-2') } },
    'POST /users/:id/unblock': { at: { user: userId('the-blocked') } },
    'POST /users/:id/ban': { at: { user: userId('person-2') } },
    'POST /users/:id/unban': { at: { user: userId('the-banned') } },
    'POST /users/:id/deactivate': { at: { user: userId('the-dormant') } },
    'POST /users/:id/approve': { at: { user: userId('the-pending') } },
    'POST /users/:id/reject': { at: { user: userId('the-pending') } },
    'PATCH /users/:id/disable_two_factor': { at: { user: userId('person-2') } },
    'PATCH /groups/:id/enterprise_users/:user_id/disable_two_factor': {
      at: { user_id: userId('person-2') },
    },
    'PUT /user/avatar': { file: 'avatar' },
  }),
  objectForDelete: () => ({
    '/groups/:id/enterprise_users/:user_id': {
      at: { user_id: `select id from users where username = 'person-2'` },
    },
    '/users/:id': { at: { user: `select max(id) from users where username like 'person-%'` } },
  }),
};
