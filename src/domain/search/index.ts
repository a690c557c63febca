/** Search: over what is in the database by its words, over what is in a project's repositories by git. */
import type { Capability } from '../../core/capability.ts';
import { searchEndpoints } from './routes.ts';

/** It keeps nothing of its own: whatever is found is read where it is. */
export const searchCapability = (): Capability => ({
  name: 'search',
  endpoints: searchEndpoints,
  tables: [],
});
