/** Custom attributes of root, the project and the group, by the names of the users. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ user, project, group }) => `
    insert into custom_attributes (user_id, project_id, namespace_id, key, value, updated_at)
      select case x when 1 then ${user} end, case x when 2 then ${project} end, case x when 3 then ${group} end,
        username, 'value', now() from person, generate_series(1, 3) x order by id, x`,
  objects: { 'custom_attributes/:key': { table: 'custom_attributes', column: 'key' } },
};
