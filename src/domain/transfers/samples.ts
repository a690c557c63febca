/** An export of the project and of the group, and imports of single relations into the project, one by each user. */
import { placeBlob } from '../../../test/support/blobs.ts';
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ user, project, group }) => `
    insert into blobs (sha256, created_at) values (sha256('marble'), now()) on conflict do nothing;
    insert into exports (project_id, namespace_id, status, filename, sha256, size, created_at, finished_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, 'finished', 'export.tar.gz',
        sha256('marble'), 6, now(), now() from generate_series(1, 2) x;
    insert into bulk_imports (user_id, source_url, status, created_at, updated_at)
      select ${user}, 'https://' || username || '.example', 'finished', now(), now() from person order by id;
    insert into bulk_import_entities (bulk_import_id, source_type, source_full_path, destination_slug, destination_namespace,
        migrate_projects, migrate_memberships, status, step, created_at, updated_at)
      select (select min(id) from bulk_imports), 'group_entity', username, username, '', true, true, 'finished', 'import', now(), now()
      from person order by id;
    insert into relation_exports (project_id, namespace_id, relation, status, sha256, objects, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, 'labels', 'finished', sha256('marble'), 1, now()
      from generate_series(1, 2) x;
    insert into imports (project_id, user_id, relation, status, correlation_id, options, created_at, updated_at)
      select ${project}, id, 'issues', 'finished', md5(username), '{}', now(), now() from person order by id`,
  ownRows: ({ user }) => `
    insert into bulk_imports (user_id, source_url, status, created_at, updated_at)
      values (${user}, 'https://own.example', 'finished', now(), now())`,
  async fill(app) {
    await placeBlob(app, 'marble');
    const { settings, database } = app.app.services;
    await settings.write(database.db, { bulk_import_enabled: true });
    settings.forget();
  },
  objects: {
    'bulk_imports/:import_id': { table: 'bulk_imports', where: ({ user }) => `user_id = ${user}` },
    'entities/:entity_id': {
      table: 'bulk_import_entities',
      where: () => 'bulk_import_id = (select min(id) from bulk_imports)',
    },
  },
  lists: { 'GET /bulk_imports/:import_id/entities/:entity_id/failures': 'empty' },
  requests: () => ({
    'POST /projects/import': { with: { path: 'imported' }, file: 'file' },
    'POST /projects/import-relation': { with: { path: 'world/world', relation: 'issues' }, file: 'file' },
    'POST /projects/remote-import': { with: { url: 'http://127.0.0.1/export', path: 'imported' } },
    'GET /projects/:id/export_relations/download': { with: { relation: 'labels' } },
    'GET /groups/:id/export_relations/download': { with: { relation: 'labels' } },
    'POST /bulk_imports': {
      with: {
        configuration: { url: 'http://127.0.0.1', access_token: 'token' },
        entities: [
          {
            source_type: 'group_entity',
            source_full_path: 'a',
            destination_slug: 'a',
            destination_namespace: '',
          },
        ],
      },
    },
    'POST /groups/import': { with: { path: 'imported', name: 'Imported' }, file: 'file' },
  }),
};
