/** Service accounts that the group has made. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ group }) => `
    insert into users (username, name, email, kind, projects_limit, can_create_group, provisioned_by_group_id, created_at, updated_at)
      select 'service-' || id, 'Service', 'service-' || id || '@example.org', 'service_account', 0, false, ${group}, now(), now()
      from person order by id`,
  ownRows: ({ group }) => `
    insert into users (username, name, email, kind, projects_limit, can_create_group, provisioned_by_group_id, created_at, updated_at)
      values ('own-service', 'Service', 'own-service@example.org', 'service_account', 0, false, ${group}, now(), now())`,
  objects: {
    'service_accounts/:user_id': {
      table: 'users',
      where: ({ group }) => `kind = 'service_account' and provisioned_by_group_id = ${group}`,
    },
  },
};
