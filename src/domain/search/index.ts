/** Search: in the database by words, in a project's repositories by git. */
import type { Capability } from '../../kernel/capability.ts';
import { searchEndpoints } from './routes.ts';

/** It has no tables of its own: results are read from those of other capabilities. */
export const searchCapability = (): Capability => ({
  name: 'search',
  endpoints: searchEndpoints,
  tables: [],
});
