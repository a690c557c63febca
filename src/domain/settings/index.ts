/** The instance's settings and data for administrators. */
import { adminNotices } from '../../kernel/api/admin-page.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { countUsers } from './actions.ts';
import { featureEndpoints } from './feature-routes.ts';
import { licenseEndpoints } from './license-routes.ts';
import { maintenanceNotice, settingsPages } from './settings-pages.ts';
import { settingsEndpoints } from './settings-routes.ts';

const COUNT_USERS = 'settings.count_users';

export const settingsCapability = ({ database }: Needs<'database'>): Capability => ({
  name: 'settings',
  endpoints: [...settingsEndpoints, ...featureEndpoints, ...licenseEndpoints],
  pages: settingsPages,
  registrations: [adminNotices.add(maintenanceNotice)],
  tasks: { [COUNT_USERS]: () => countUsers(database.background) },
  schedules: [{ task: COUNT_USERS, pattern: '48 23 * * *' }],
  tables: ['application_settings', 'feature_gates', 'user_counts'],
});
