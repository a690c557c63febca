/** Git over HTTP: clones, fetches and pushes by the git program, and their authorization. */
import type { Capability } from '../../../kernel/capability.ts';
import type { GitAccess } from '../../lfs/index.ts';
import { identify, requirePurpose } from './credentials.ts';
import { authorizeForGit } from './resolve-repository.ts';
import { type GitServices, gitRoutes } from './routes.ts';

export const gitHttpCapability = (services: GitServices): Capability => ({
  name: 'git-http',
  endpoints: [],
  routes: gitRoutes(services),
  tables: [],
});

/** How large files are reached: as the repository that names them. */
export const gitAccess: GitAccess = { identify, requirePurpose, authorize: authorizeForGit };
