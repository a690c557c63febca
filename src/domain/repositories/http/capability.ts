/** Git over HTTP: clones, fetches and pushes by the git program, and their authorization. */
import type { Capability } from '../../../kernel/capability.ts';
import type { GitAccess } from '../../lfs/index.ts';
import { forgetFetches } from '../fetches/count-actions.ts';
import { fetchEndpoints } from '../fetches/routes.ts';
import { identify, requirePurpose } from './credentials.ts';
import { authorizeForGit } from './resolve-repository.ts';
import { type GitServices, gitRoutes } from './routes.ts';

const FORGET = 'git_http.forget_fetches';

export const gitHttpCapability = (services: GitServices): Capability => ({
  name: 'git-http',
  endpoints: fetchEndpoints,
  routes: gitRoutes(services),
  tasks: { [FORGET]: () => forgetFetches(services.database.background) },
  schedules: [{ task: FORGET, pattern: '41 3 * * *' }],
  // They go with their project, by foreign key.
  tables: ['project_fetches'],
});

/** How large files are reached: as the repository that names them. */
export const gitAccess: GitAccess = { identify, requirePurpose, authorize: authorizeForGit };
