/** Feature flags of projects, for their own programs. */
import type { Capability } from '../../kernel/capability.ts';
import { hookSamples, hookSources } from '../hooks/index.ts';
import { featureFlagClientEndpoints } from './client-routes.ts';
import { featureFlagHook, featureFlagSample } from './hook-events.ts';
import { featureFlagEndpoints } from './routes.ts';
import { userListEndpoints } from './user-lists/routes.ts';

export const featureFlagsCapability = (): Capability => ({
  name: 'feature-flags',
  endpoints: [...featureFlagEndpoints, ...featureFlagClientEndpoints, ...userListEndpoints],
  registrations: [hookSources.add(featureFlagHook), hookSamples.add(featureFlagSample)],
  tables: ['project_feature_flags', 'feature_flag_clients', 'feature_flag_user_lists'],
  unique: {
    project_feature_flags_project_id_name_key: { property: 'name' },
    feature_flag_user_lists_project_id_name_key: { property: 'name' },
  },
});
