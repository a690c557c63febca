/** A file of each user in the project and in the group. */
import type { SampleIds } from '../../../test/support/inventory.ts';
import type { Samples } from '../../../test/support/samples.ts';

/** An address has two parts of one row. */
const newest = ({ project, group }: SampleIds, path: string): string =>
  `id = (select max(id) from uploads where ${path.startsWith('/groups/') ? `namespace_id = ${group}` : `project_id = ${project}`})`;

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into uploads (project_id, namespace_id, uploader_id, secret, filename, size, created_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, id, md5(x || username), username, 1, now()
      from person, generate_series(1, 2) x order by x, id`,
  async guardedFill({ project, group }, { upload }) {
    await upload('POST', `/projects/${project}/uploads`, 'file');
    await upload('POST', `/groups/${group}/uploads`, 'file');
  },
  objects: {
    'uploads/:upload_id': { table: 'uploads', newest: true },
    'uploads/:secret': { table: 'uploads', column: 'secret', where: newest },
    ':secret/:filename': { table: 'uploads', column: 'filename', where: newest },
  },
  requests: () => ({
    'POST /projects/:id/uploads': { file: 'file' },
    'POST /groups/:id/uploads': { file: 'file' },
  }),
};
