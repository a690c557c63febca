/** The OAuth 2.0 identity provider: applications, authorization, tokens, devices, identities. */
import type { Capability } from '../../kernel/capability.ts';
import { applicationEndpoints } from './applications/endpoints.ts';
import { applicationPages } from './applications/pages.ts';
import { registrationRoute } from './applications/registration.ts';
import { authorizePages } from './authorization/authorize.ts';
import { deviceRoute } from './devices/endpoint.ts';
import { devicePages } from './devices/pages.ts';
import { deviceSchedules, deviceTasks } from './devices/queries.ts';
import { identityRoutes, identitySchedules, identityTasks } from './discovery.ts';
import { sweepTask } from './grants/sweep-actions.ts';
import type { ProtocolServices } from './protocol/endpoint.ts';
import { tokenRoute } from './tokens/endpoint.ts';
import { tokenManagementRoutes } from './tokens/management.ts';

export { rotateSigningKey } from './identity/signing-key-actions.ts';
export { readSignedClaims, signClaims } from './identity/token.ts';

const SWEEP = 'oauth.sweep';

export const oauthCapability = (services: ProtocolServices): Capability => ({
  name: 'oauth',
  endpoints: [...applicationEndpoints],
  routes: [
    registrationRoute(services),
    tokenRoute(services),
    ...tokenManagementRoutes(services),
    ...identityRoutes(services),
    deviceRoute(services),
  ],
  pages: [...applicationPages, ...authorizePages, ...devicePages],
  tasks: { ...identityTasks(services), ...deviceTasks(services), [SWEEP]: sweepTask(services) },
  schedules: [...identitySchedules, ...deviceSchedules, { task: SWEEP, pattern: '53 3 * * *' }],
  tables: [
    'oauth_applications',
    'oauth_grants',
    'oauth_refresh_tokens',
    'oauth_devices',
    'oauth_signing_keys',
  ],
});
