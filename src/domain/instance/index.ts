/** What administrators have the instance show and allow: messages to everybody, its looks, its limits. */
import type { Capability } from '../../kernel/capability.ts';
import { broadcastPages } from './broadcast-messages/pages.ts';
import { broadcastEndpoints } from './broadcast-messages/routes.ts';

export const instanceCapability = (): Capability => ({
  name: 'instance',
  endpoints: broadcastEndpoints,
  pages: broadcastPages,
  tables: ['appearance', 'broadcast_messages', 'plan_limits'],
});
