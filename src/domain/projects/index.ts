/** Projects: listed, created, changed, moved, shared, starred, and deleted with a delay. */
import type { Capability } from '../../core/capability.ts';
import { listEndpoints } from './list-routes.ts';
import { peopleEndpoints } from './people-routes.ts';
import { readEndpoints } from './routes.ts';
import { writeEndpoints } from './write-routes.ts';

export const projectsCapability = (): Capability => ({
  name: 'projects',
  tables: ['projects', 'project_redirects', 'project_group_links', 'stars'],
  endpoints: [...readEndpoints, ...writeEndpoints, ...listEndpoints, ...peopleEndpoints],
});
