/** Git over HTTP: clones, fetches and pushes by the git program, and their authorization. */
import type { Capability } from '../../../kernel/capability.ts';
import { type GitServices, gitRoutes } from './routes.ts';

export const gitHttpCapability = (services: GitServices): Capability => ({
  name: 'git-http',
  endpoints: [],
  routes: gitRoutes(services),
  tables: [],
});
