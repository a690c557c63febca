/** Custom roles of the instance. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: () => `
    insert into member_roles (name, base_access_level, abilities, created_at, updated_at)
      select 'Role ' || id, 10, array['read_code'], now(), now() from person order by id`,
  objects: { 'member_roles/:member_role_id': 'member_roles' },
  fields: { member_role_id: null },
  requests: () => ({
    'POST /member_roles': { with: { name: 'New', base_access_level: 10, read_code: true } },
  }),
};
