/** Protected branches and tags: who may push to, merge into and create the names that match. */
import type { Capability } from '../../../kernel/capability.ts';
import { protectedRefEndpoints } from './routes.ts';

export const protectedRefsCapability = (): Capability => ({
  name: 'protected-refs',
  // They go with their project, and entries with the user, group or key that they name.
  tables: ['protected_branches', 'protected_tags', 'protected_ref_access'],
  endpoints: protectedRefEndpoints,
});
