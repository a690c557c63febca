/** Custom roles: a base role with more abilities, which memberships may have. */
import type { Capability } from '../../../kernel/capability.ts';
import type { Needs } from '../../../kernel/services.ts';
import { memberRoleEndpoints } from './routes.ts';

export const memberRolesCapability = (services: Needs<'config'>): Capability => ({
  name: 'member-roles',
  endpoints: memberRoleEndpoints(services),
  // They go with their group.
  tables: ['member_roles'],
});
