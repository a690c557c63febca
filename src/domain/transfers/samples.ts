/** An export of the project and of the group, and imports of single relations into the project, one by each user. */
import { placeBlob } from '../../../test/support/blobs.ts';
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into blobs (sha256, created_at) values (sha256('marble'), now()) on conflict do nothing;
    insert into exports (project_id, namespace_id, status, filename, sha256, size, created_at, finished_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, 'finished', 'export.tar.gz',
        sha256('marble'), 6, now(), now() from generate_series(1, 2) x;
    insert into relation_exports (project_id, namespace_id, relation, status, sha256, objects, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, 'labels', 'finished', sha256('marble'), 1, now()
      from generate_series(1, 2) x;
    insert into imports (project_id, user_id, relation, status, correlation_id, options, created_at, updated_at)
      select ${project}, id, 'issues', 'finished', md5(username), '{}', now(), now() from person order by id`,
  fill: async (app) => placeBlob(app, 'marble'),
  requests: () => ({
    'POST /projects/import': { with: { path: 'imported' }, file: 'file' },
    'POST /projects/import-relation': { with: { path: 'world/world', relation: 'issues' }, file: 'file' },
    'POST /projects/remote-import': { with: { url: 'http://127.0.0.1/export', path: 'imported' } },
    'GET /projects/:id/export_relations/download': { with: { relation: 'labels' } },
    'GET /groups/:id/export_relations/download': { with: { relation: 'labels' } },
    'POST /groups/import': { with: { path: 'imported', name: 'Imported' }, file: 'file' },
  }),
};
