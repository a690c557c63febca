/** A distribution of the project and of the group for each user, named as they are, and a package of theirs in the first one. */
import type { SampleIds } from '../../../../test/support/inventory.ts';
import type { Samples } from '../../../../test/support/samples.ts';
import { makeEd25519Key, seal } from '../../../platform/secret.ts';

const FILE = 'stone_1.0_amd64.deb';
const pool = ({ project }: SampleIds, before: string) =>
  `select ${before} || 'p/' || name || '/1.0/${FILE}' from packages
    where package_type = 'debian' and project_id = ${project} order by id limit 1`;

export const samples: Samples = {
  after: ['packages'],
  rows: ({ project, group }, { app }) => `
    insert into debian_distributions (project_id, namespace_id, codename, components, architectures, private_key_sealed,
      public_key, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, username, '{main}', '{all,amd64}',
        '${seal(app.services.secretKey, makeEd25519Key())}', 'key', now(), now()
      from person, generate_series(1, 2) x order by id, x;
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'debian', username, '1.0', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select id, '${FILE}', (select sha256 from blobs order by sha256 limit 1), 7, '', '', now()
      from packages where package_type = 'debian' order by id;
    insert into debian_files (file_id, package_id, distribution_id, file_name, component, kind, architecture, stanza)
      select f.id, p.id, (select min(id) from debian_distributions where project_id = ${project}), '${FILE}', 'main',
        'deb', 'amd64', 'Package: stone' || chr(10)
      from packages p join package_files f on f.package_id = p.id
      where p.package_type = 'debian' and p.project_id = ${project}`,
  objects: {
    ...Object.fromEntries(
      ['debian_distributions/:codename', 'dists/:distribution', 'pool/:distribution'].map((key) => [
        key,
        { table: 'debian_distributions', column: 'codename' },
      ]),
    ),
    ':distribution/:index_path': { value: 'Release' },
    ':distribution/:pool_path': { value: FILE },
    'debian/:file_name': { value: 'stone_1.0_amd64.buildinfo' },
  },
  requests: async (world) => ({
    'POST /projects/:id/debian_distributions': { with: { codename: 'new' } },
    'POST /groups/:id/-/debian_distributions': { with: { codename: 'new' } },
    'PUT /projects/:id/debian_distributions/:codename': { with: { label: 'new' } },
    'PUT /groups/:id/-/debian_distributions/:codename': { with: { label: 'new' } },
    'GET /projects/:id/packages/debian/pool/:distribution/:pool_path': {
      at: { pool_path: await world.text(pool(world, `''`)) },
    },
    'GET /groups/:id/-/packages/debian/pool/:distribution/:pool_path': {
      at: { pool_path: await world.text(pool(world, `project_id || '/'`)) },
    },
  }),
};
