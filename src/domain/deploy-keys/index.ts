/** Deploy keys: SSH keys of projects, not of users. */
import { sql } from 'kysely';
import type { Capability } from '../../kernel/capability.ts';
import { deployKeyEndpoints } from './routes.ts';

export const deployKeysCapability = (): Capability => ({
  name: 'deploy-keys',
  tables: ['deploy_keys', 'deploy_keys_projects'],
  async erase(tx, projectIds) {
    const ids = sql`${[...projectIds]}::bigint[]`;
    await sql`
      delete from deploy_keys k where not public
        and exists (select from deploy_keys_projects d where d.deploy_key_id = k.id and d.project_id = any(${ids}))
        and not exists (select from deploy_keys_projects d where d.deploy_key_id = k.id and d.project_id <> all(${ids}))`.execute(
      tx,
    );
  },
  async reassign(tx, userId, ghostId) {
    await tx.updateTable('deploy_keys').set({ user_id: ghostId }).where('user_id', '=', userId).execute();
  },
  endpoints: deployKeyEndpoints,
});
