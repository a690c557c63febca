/** Secure files of the project, by the names of the users. */

import { placeBlob } from '../../../../test/support/blobs.ts';
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into blobs (sha256, created_at) values (sha256('granite'), now()) on conflict do nothing;
    insert into secure_files (project_id, name, size, sha256, created_at)
      select ${project}, username, 7, sha256('granite'), now() from person order by id`,
  fill: async (app) => placeBlob(app, 'granite'),
  objects: { 'secure_files/:secure_file_id': 'secure_files' },
  requests: async ({ id }) => ({
    'POST /projects/:id/secure_files': { with: { name: 'key.jks' }, file: 'file' },
    // Files do not come back: this one is read by no other request.
    'DELETE /projects/:id/secure_files/:secure_file_id': {
      at: { secure_file_id: await id('select max(id) as id from secure_files') },
    },
  }),
};
