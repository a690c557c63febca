/** Tokens: personal, project, group, impersonation and deploy tokens, and the bots that some of them act as. */

import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { hookSamples, hookSources } from '../hooks/index.ts';
import { retireUnusedBots } from './bot-actions.ts';
import { deployEndpoints } from './deploy-routes.ts';
import { announceExpiring } from './expiry/expiry-actions.ts';
import { tokenHook, tokenSample } from './expiry/hook-events.ts';
import { impersonationEndpoints } from './impersonation-routes.ts';
import { leakedTokenEndpoints } from './leaked/routes.ts';
import { personalEndpoints } from './personal-routes.ts';
import { resourceEndpoints } from './resource-routes.ts';
import { serviceAccountTokenEndpoints } from './service-accounts/routes.ts';

export { resourceScopes, tokenScopes } from './rules.ts';

export const tokensCapability = (services: Needs<'config' | 'database'>): Capability => ({
  name: 'tokens',
  registrations: [hookSources.add(tokenHook), hookSamples.add(tokenSample)],
  endpoints: [
    ...personalEndpoints,
    ...impersonationEndpoints,
    ...resourceEndpoints(services),
    ...deployEndpoints,
    ...serviceAccountTokenEndpoints,
    ...leakedTokenEndpoints,
  ],
  tasks: {
    'tokens.retire_bots': async () => {
      await retireUnusedBots(services.database.background);
    },
    'tokens.announce_expiring': () => announceExpiring(services.database.background),
  },
  schedules: [
    { task: 'tokens.retire_bots', pattern: '35 3 * * *' },
    { task: 'tokens.announce_expiring', pattern: '25 * * * *' },
  ],
  // Rows go with their project, group or user, by foreign key.
  tables: ['access_tokens', 'deploy_tokens'],
});
