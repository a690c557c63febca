/** The instance's settings and data for administrators. */
import type { Capability } from '../../kernel/capability.ts';
import { featureEndpoints } from './feature-routes.ts';
import { licenseEndpoints } from './license-routes.ts';
import { settingsEndpoints } from './settings-routes.ts';

export const settingsCapability = (): Capability => ({
  name: 'settings',
  endpoints: [...settingsEndpoints, ...featureEndpoints, ...licenseEndpoints],
  tables: ['application_settings', 'feature_gates'],
});
