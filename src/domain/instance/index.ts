/** What administrators have the instance show and allow: messages to everybody, its looks, its limits. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { appearanceEndpoints, appearanceRoutes } from './appearance/routes.ts';
import { broadcastPages } from './broadcast-messages/pages.ts';
import { broadcastEndpoints } from './broadcast-messages/routes.ts';
import { planLimitEndpoints } from './plan-limits/routes.ts';

export const instanceCapability = (
  services: Needs<'blobs' | 'instance' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Capability => ({
  name: 'instance',
  endpoints: [...broadcastEndpoints, ...appearanceEndpoints, ...planLimitEndpoints],
  routes: appearanceRoutes(services),
  pages: broadcastPages,
  tables: ['appearance', 'broadcast_messages', 'plan_limits'],
});
