/** Search: its routes and words; the owners of what is found bring the scopes. */
import type { Capability } from '../../kernel/capability.ts';
import { searchEndpoints } from './routes.ts';
import type { SearchScopes } from './scopes.ts';

export { inContainer, matches, searchPage, visibleProjects } from './queries.ts';
export { nothing, type SearchRequest } from './request.ts';
export { numberOf } from './rules.ts';
export type { SearchScope, SearchScopes } from './scopes.ts';

/** It has no tables of its own: results are read from those of other capabilities. */
export const searchCapability = (scopes: SearchScopes): Capability => ({
  name: 'search',
  endpoints: searchEndpoints(scopes),
  tables: [],
});
