/** A token that its finder ends: a deploy token of the group, whose value is known. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  guardedRows: ({ group }) => `
    insert into deploy_tokens (digest, namespace_id, name, username, scopes, created_at, updated_at)
      values (sha256('found'), ${group}, 'Found', 'found', array['read_repository'], now(), now())`,
  requests: () => ({ 'POST /groups/:id/tokens/revoke': { with: { token: 'found' } } }),
};
