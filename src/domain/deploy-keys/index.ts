/** Deploy keys: SSH keys of projects, not of users. */
import type { Capability } from '../../kernel/capability.ts';
import { eraseDeployKeys, reassignDeployKeys } from './actions.ts';
import { deployKeyEndpoints } from './routes.ts';

export const deployKeysCapability = (): Capability => ({
  name: 'deploy-keys',
  tables: ['deploy_keys', 'deploy_keys_projects'],
  unique: { deploy_keys_fingerprint: { property: 'fingerprint_sha256' } },
  erase: eraseDeployKeys,
  reassign: reassignDeployKeys,
  endpoints: deployKeyEndpoints,
});
