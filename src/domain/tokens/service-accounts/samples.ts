/** Personal access tokens of the group's first service account. */
import type { Samples } from '../../../../test/support/samples.ts';

const first = `(select min(id) from users where kind = 'service_account')`;

export const samples: Samples = {
  after: ['accounts/service-accounts'],
  rows: () => `
    insert into access_tokens (kind, digest, user_id, name, scopes, created_at, updated_at)
      select 'personal', sha256(('service' || id)::bytea), ${first}, 'Service', array['api'], now(), now()
      from person order by id`,
  objects: {
    'personal_access_tokens/:token_id': { table: 'access_tokens', where: () => `user_id = ${first}` },
  },
};
