/** Protected branches and tags: who may push, merge and create what a name or a pattern meets. */
import type { Capability } from '../../core/capability.ts';
import { protectedRefEndpoints } from './routes.ts';

export const protectedRefsCapability = (): Capability => ({
  name: 'protected-refs',
  // They go with their project, and entries with the user, group or key that they name.
  tables: ['protected_branches', 'protected_tags', 'protected_ref_access'],
  endpoints: protectedRefEndpoints,
});
