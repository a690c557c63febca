/** A feature flag for each user, by the user's name. */
import type { Samples } from '../../../test/support/samples.ts';
import { clientToken } from './client-rules.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into project_feature_flags (project_id, name, strategies, created_at, updated_at)
      select ${project}, username,
        jsonb_build_array(jsonb_build_object('id', id, 'name', 'default', 'parameters', '{}'::jsonb, 'scopes', '[]'::jsonb)),
        now(), now() from person order by id;
    insert into feature_flag_user_lists (project_id, iid, name, user_xids, created_at, updated_at)
      select ${project}, row_number() over (order by id), username, username, now(), now() from person;
    insert into project_counters (project_id, feature_flag_user_lists) select ${project}, count(*) from person
      on conflict (project_id) do update set feature_flag_user_lists = excluded.feature_flag_user_lists`,
  requests: async (world) => {
    const client = { projectId: world.project, generation: 0 };
    const calls = [
      'GET :',
      'GET :/features',
      'GET :/client/features',
      'POST :/client/register',
      'POST :/client/metrics',
    ];
    const at = { project_id: world.project };
    const given = { at, with: { instance_id: clientToken(world.secretKey, client) } };
    return {
      ...Object.fromEntries(
        calls.map((call) => [call.replace(':', '/feature_flags/unleash/:project_id'), given]),
      ),
      'POST /projects/:id/feature_flags_user_lists': { with: { name: 'New', user_xids: 'ada' } },
    };
  },
  // The token of a project's programs.
  fields: { instance_id: null },
  objects: {
    'unleash/:project_id': { table: 'projects', where: ({ project }) => `id = ${project}` },
    'feature_flags_user_lists/:iid': {
      table: 'feature_flag_user_lists',
      column: 'iid',
      where: ({ project }) => `project_id = ${project}`,
    },
    'feature_flags/:feature_flag_name': { table: 'project_feature_flags', column: 'name', foreign: true },
  },
};
