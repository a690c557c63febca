/** A feature flag for each user, by the user's name. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into project_feature_flags (project_id, name, strategies, created_at, updated_at)
      select ${project}, username,
        jsonb_build_array(jsonb_build_object('id', id, 'name', 'default', 'parameters', '{}'::jsonb, 'scopes', '[]'::jsonb)),
        now(), now() from person order by id`,
  objects: {
    'feature_flags/:feature_flag_name': { table: 'project_feature_flags', column: 'name', foreign: true },
  },
};
