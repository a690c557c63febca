/** Secure files of the project, by the names of the users. */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Samples } from '../../../../test/support/samples.ts';
import { storedPath } from '../../../kernel/files/stored-files.ts';
import { secureFilesFolder } from './actions.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into secure_files (project_id, name, secret, size, sha256, created_at)
      select ${project}, username, md5('secure ' || id), 7, sha256('granite'), now() from person order by id`,
  async fill(app) {
    const { database, config } = app.app.services;
    const rows = await database.sql<{ secret: string }[]>`select secret from secure_files`;
    for (const { secret } of rows) {
      const { folder, file } = storedPath(secureFilesFolder(config.data), secret);
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, 'granite');
    }
  },
  objects: { 'secure_files/:secure_file_id': 'secure_files' },
  requests: async ({ id }) => ({
    'POST /projects/:id/secure_files': { with: { name: 'key.jks' }, file: 'file' },
    // Files do not come back: this one is read by no other request.
    'DELETE /projects/:id/secure_files/:secure_file_id': {
      at: { secure_file_id: await id('select max(id) as id from secure_files') },
    },
  }),
};
