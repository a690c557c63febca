/** A managed licence for each user, in the project. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into managed_licenses (project_id, name, approval_status, created_at, updated_at)
      select ${project}, username, 'allowed', now(), now() from person order by id`,
  requests: () => ({
    'POST /projects/:id/managed_licenses': { with: { name: 'MIT', approval_status: 'allowed' } },
  }),
  objects: { 'managed_licenses/:managed_license_id': 'managed_licenses' },
};
