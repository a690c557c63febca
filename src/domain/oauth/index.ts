/** The OAuth 2.0 identity provider: applications, authorization, tokens, devices, identities. */
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { applicationEndpoints } from './application-endpoints.ts';
import { applicationRoutes } from './application-pages.ts';
import { authorizeRoutes } from './authorize.ts';
import { deviceRoutes } from './device-endpoint.ts';
import { deviceSchedules, deviceTasks } from './devices.ts';
import { identityRoutes, identitySchedules, identityTasks } from './discovery.ts';
import { registrationRoute } from './registration.ts';
import { sweepTask } from './sweep.ts';
import { tokenRoute } from './token-endpoint.ts';
import { tokenManagementRoutes } from './token-management.ts';

const SWEEP = 'oauth.sweep';

export const oauthCapability = (services: Services): Capability => ({
  name: 'oauth',
  endpoints: [...applicationEndpoints],
  routes: [
    ...applicationRoutes(services),
    registrationRoute(services),
    ...authorizeRoutes(services),
    tokenRoute(services),
    ...tokenManagementRoutes(services),
    ...identityRoutes(services),
    ...deviceRoutes(services),
  ],
  tasks: { ...identityTasks(services), ...deviceTasks(services), [SWEEP]: sweepTask(services) },
  schedules: [...identitySchedules, ...deviceSchedules, { task: SWEEP, pattern: '53 3 * * *' }],
  tables: ['oauth_applications', 'oauth_grants', 'oauth_devices'],
});
