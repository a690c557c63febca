/** Badges of projects and groups: images with links, for a project's page. */
import type { Capability } from '../../kernel/capability.ts';
import { badgeEndpoints } from './routes.ts';

export const badgesCapability = (): Capability => ({
  name: 'badges',
  endpoints: badgeEndpoints,
  // They go with their project or group, by foreign key.
  tables: ['badges'],
});
