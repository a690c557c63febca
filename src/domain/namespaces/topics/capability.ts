/** Topics that projects have in common. */
import type { Capability } from '../../../kernel/capability.ts';
import type { Needs } from '../../../kernel/services.ts';
import { topicEndpoints, topicRoutes } from './routes.ts';

export const topicsCapability = (
  services: Needs<'blobs' | 'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Capability => ({
  name: 'topics',
  endpoints: topicEndpoints,
  routes: topicRoutes(services),
  // They stay when their projects are deleted.
  tables: ['topics'],
  unique: { topics_name: { property: 'name' } },
});
