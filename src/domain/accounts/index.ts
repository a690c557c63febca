/** Accounts: users with their addresses, keys, status, followers and picture; creation and deletion. */
import { adminNotices } from '../../kernel/api/admin-page.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import type { UniqueIndexes } from '../../platform/db/errors.ts';
import { hookSources } from '../hooks/index.ts';
import { adminEndpoints } from './administration/admin-routes.ts';
import { enterpriseEndpoints } from './administration/enterprise-routes.ts';
import { userPages, waitingNotice } from './administration/user-pages.ts';
import { avatarEndpoints, avatarRoutes } from './avatar-routes.ts';
import { followEndpoints } from './follow-routes.ts';
import { keyHooks, userHooks } from './hook-events.ts';
import { gpgKeyEndpoints } from './keys/gpg-key-routes.ts';
import { keyEndpoints } from './keys/ssh-key-routes.ts';
import { supportPinEndpoints } from './keys/support-pin-routes.ts';
import { serviceAccountEndpoints } from './service-accounts/routes.ts';
import { statusEndpoints } from './status/routes.ts';
import { finishDeletion, resumeDeletions, USER_DELETED } from './users/deletion-actions.ts';
import { emailEndpoints } from './users/email-routes.ts';
import { userEndpoints } from './users/routes.ts';

export { showProfiles, userEndpoint } from './users/routes.ts';
export { UserRecord } from './users/schema.ts';
export { userSearch } from './users/search-scope.ts';

const uniqueIndexes: UniqueIndexes = {
  users_username: { property: 'username', status: 'conflict' },
  emails_holder: { property: 'email' },
  emails_own: { property: 'email' },
  identities_extern: { property: 'extern_uid' },
  ssh_keys_fingerprint: { property: 'fingerprint_sha256' },
  gpg_keys_fingerprint_key: { property: 'fingerprint' },
};

/** `all` are the mounted capabilities: each reassigns a deleted user's rows to the ghost user. */
export function accountsCapability(
  services: Needs<'blobs' | 'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
  all: () => readonly Capability[],
): Capability {
  const { background } = services.database;
  return {
    name: 'accounts',
    registrations: [hookSources.add(...userHooks, ...keyHooks), adminNotices.add(waitingNotice)],
    tables: ['users', 'emails', 'identities', 'ssh_keys', 'gpg_keys', 'support_pins', 'follows'],
    unique: uniqueIndexes,
    endpoints: [
      ...userEndpoints,
      ...adminEndpoints,
      ...emailEndpoints,
      ...statusEndpoints,
      ...keyEndpoints,
      ...gpgKeyEndpoints,
      ...supportPinEndpoints,
      ...followEndpoints,
      ...avatarEndpoints,
      ...enterpriseEndpoints,
      ...serviceAccountEndpoints,
    ],
    pages: userPages(uniqueIndexes),
    routes: avatarRoutes(services),
    tasks: {
      'users.erase': async (payload) => {
        if (typeof payload.user_id === 'number') await finishDeletion(background, payload.user_id, all());
      },
      'users.resume_deletions': () => resumeDeletions(background),
    },
    listeners: [{ fact: USER_DELETED, task: 'users.erase' }],
    schedules: [{ task: 'users.resume_deletions', pattern: '* * * * *' }],
  };
}
