/** A trigger token of each user, in the project. */
import type { Samples } from '../../../../test/support/samples.ts';
import { seal } from '../../../platform/secret.ts';

export const samples: Samples = {
  rows: ({ project }, { app }) => `
    insert into trigger_tokens (project_id, owner_id, token_sealed, digest, description, created_at, updated_at)
      select ${project}, id, '${seal(app.services.secretKey, 'glptt-0123')}', sha256(username::bytea), username, now(), now()
      from person order by id`,
  objects: { 'triggers/:trigger_id': 'trigger_tokens' },
  requests: () => ({ 'POST /projects/:id/triggers': { with: { description: 'For the quarry' } } }),
};
