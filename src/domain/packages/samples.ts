import { gzipSync } from 'node:zlib';
import { placeBlob } from '../../../test/support/blobs.ts';
import type { Samples } from '../../../test/support/samples.ts';
import { tarFile } from '../../../test/support/tar.ts';
import { digest } from '../../platform/secret.ts';

const CONTENT = 'granite';
const CHART = gzipSync(tarFile({ name: 'new/Chart.yaml', content: 'name: new\nversion: 1.0.0\n' }));

/** The beginning of the names that the instance knows. */
const scopeOf = (project: number): string =>
  `(select '@' || split_part(n.full_path, '/', 1) || '/' from projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${project})`;

const npmPlaces = ['/projects/:id/packages/npm', '/groups/:id/-/packages/npm', '/packages/npm'];
const tagsIn = (place: string): string => `${place}/-/package/:package_path`;

/** The address of a package of npm, with what ends it. */
const npmPackage = (project: number, ending: string, offset = 0): string =>
  `select name || ${ending} from packages where package_type = 'npm' and project_id = ${project} order by id offset ${offset} limit 1`;

/** As npm sends it. */
const npmDocument = (name: string) => ({
  name,
  'dist-tags': { latest: '2.0.0' },
  versions: { '2.0.0': { name, version: '2.0.0' } },
  _attachments: { [`${name}-2.0.0.tgz`]: { data: 'aGV5', length: 3 } },
});

export const samples: Samples = {
  after: ['ci'],
  rows: ({ project }) => `
    insert into blobs (sha256, created_at) values (sha256('${CONTENT}'), now()) on conflict do nothing;
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'generic', username, '1.0', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select id, 'stone', sha256('${CONTENT}'), 7, decode(md5('${CONTENT}'), 'hex'), '', now() from packages order by id;
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'pypi', username, '1.0', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select id, 'stone.whl', sha256('${CONTENT}'), 7, decode(md5('${CONTENT}'), 'hex'), '', now()
      from packages where package_type = 'pypi' order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select (select min(id) from packages), 'stone-' || username, sha256('${CONTENT}'), 7, decode(md5('${CONTENT}'), 'hex'), '', now()
      from person where username <> 'person-1' order by id;
    insert into package_file_pipelines (package_file_id, package_id, pipeline_id)
      select (select min(id) from package_files), (select min(id) from packages), id
      from pipelines where project_id = ${project} and source = 'push';
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'npm', ${scopeOf(project)} || username, '1.0.0', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select id, name || '-1.0.0.tgz', sha256('${CONTENT}'), 7, decode(md5('${CONTENT}'), 'hex'), sha256('${CONTENT}'), now()
      from packages where package_type = 'npm' order by id;
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'maven', (select n.full_path || '/' || p.path from projects p join namespaces n on n.id = p.namespace_id
        where p.id = ${project}), username, id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select id, 'stone.jar', sha256('${CONTENT}'), 7, decode(md5('${CONTENT}'), 'hex'), '', now()
      from packages where package_type = 'maven' order by id;
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'helm', username, '1.0.0', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, metadata, created_at)
      select id, 'stone.tgz', sha256('${CONTENT}'), 7, decode(md5('${CONTENT}'), 'hex'), '',
        '{"channel": "stable", "description": {"name": "stone"}}', now()
      from packages where package_type = 'helm' order by id;
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'terraform_module', 'stone/local', '1.0.' || id, id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select id, 'stone-local-' || version || '.tgz', sha256('${CONTENT}'), 7, decode(md5('${CONTENT}'), 'hex'), '', now()
      from packages where package_type = 'terraform_module' order by id;
    insert into package_tags (package_id, name, created_at, updated_at)
      select id, 'latest', now(), now() from packages order by id;
    insert into package_protection_rules (project_id, package_name_pattern, package_type, push_level, created_at, updated_at)
      select ${project}, 'held-' || username, 'generic', 40, now(), now() from person order by id`,
  ownRows: ({ project }) => `
    insert into packages (project_id, package_type, name, version, created_at, updated_at)
      values (${project}, 'generic', 'own', '1.0', now(), now())`,
  fill: async (app) => placeBlob(app, CONTENT),
  objects: {
    'packages/:package_id': 'packages',
    'package_files/:package_file_id': {
      table: 'package_files',
      where: ({ project }) => `package_id in (select id from packages where project_id = ${project})`,
    },
    'rules/:package_protection_rule_id': 'package_protection_rules',
    'generic/:package_name': { table: 'packages', column: 'name' },
    ':package_name/:file_path': { value: '1.0/stone' },
    'maven/:maven_path': {
      table: 'packages',
      column: `name || '/' || version || '/stone.jar'`,
      where: ({ project }) => `package_type = 'maven' and project_id = ${project}`,
    },
    'helm/:channel': { value: 'stable' },
    'api/:channel': { value: 'stable' },
    'charts/:file_name': { value: 'stone.tgz' },
    'v1/:module_namespace': {
      table: 'namespaces',
      column: 'full_path',
      where: ({ group }) => `id = ${group}`,
    },
    ':module_namespace/:module_name': { value: 'stone' },
    'modules/:module_name': { value: 'stone' },
    ':module_name/:module_system': { value: 'local' },
    ':module_system/:module_version': {
      table: 'packages',
      column: 'version',
      where: ({ project }) => `package_type = 'terraform_module' and project_id = ${project}`,
    },
    'simple/:package_name': {
      table: 'packages',
      column: 'name',
      where: ({ project }) => `package_type = 'pypi' and project_id = ${project}`,
    },
    'npm/:package_path': {
      table: 'packages',
      column: 'name',
      where: ({ project }) => `package_type = 'npm' and project_id = ${project}`,
    },
    'package/:package_path': {
      table: 'packages',
      column: `name || '/dist-tags'`,
      where: ({ project }) => `package_type = 'npm' and project_id = ${project}`,
    },
    'files/:sha256': { value: digest(CONTENT).toString('hex') },
    ':sha256/:file_name': { value: 'stone.whl' },
  },
  // Of all formats there are more than the pages of other lists have.
  lists: {
    'GET /projects/:id/packages': { query: 'package_type=generic' },
    'GET /groups/:id/packages': { query: 'package_type=generic' },
  },
  objectForDelete: ({ project }) => ({
    '/projects/:id/packages/npm/:package_path': {
      at: { package_path: npmPackage(project, `'/-rev/' || id`, 3) },
    },
    ...Object.fromEntries(
      npmPlaces.map((place, at) => [
        tagsIn(place),
        { at: { package_path: npmPackage(project, `'/dist-tags/latest'`, at) } },
      ]),
    ),
  }),
  requests: async ({ project, text }) => ({
    'PUT /projects/:id/packages/npm/:package_path': { at: { package_path: 'new' }, with: npmDocument('new') },
    'DELETE /projects/:id/packages/npm/:package_path': {
      at: { package_path: await text(npmPackage(project, `'/-rev/' || id`)) },
    },
    ...Object.fromEntries(
      await Promise.all(
        npmPlaces.flatMap((place) =>
          (
            [
              ['PUT', 'new'],
              ['DELETE', 'latest'],
            ] as const
          ).map(async ([method, tag]) => [
            `${method} ${tagsIn(place)}`,
            {
              at: { package_path: await text(npmPackage(project, `'/dist-tags/${tag}'`)) },
              ...(method === 'PUT' && { body: '"1.0.0"' }),
            },
          ]),
        ),
      ),
    ),
    'POST /projects/:id/packages/protection/rules': {
      with: {
        package_name_pattern: 'new-*',
        package_type: 'generic',
        minimum_access_level_for_push: 'maintainer',
      },
    },
    'PATCH /projects/:id/packages/protection/rules/:package_protection_rule_id': {
      with: { package_name_pattern: 'newer-*' },
    },
    'POST /projects/:id/packages/pypi': {
      with: { name: 'new', version: '1.0' },
      file: ['content', 'new-1.0.tar.gz'],
    },
    'POST /projects/:id/packages/helm/api/:channel/charts': { file: ['chart', 'new.tgz', CHART] },
    'PUT /projects/:id/packages/terraform/modules/:module_name/:module_system/:module_version/file': {
      at: { module_version: '2.0.0' },
    },
    'PUT /projects/:id/packages/generic/:package_name/:file_path': { at: { file_path: '2.0/stone' } },
  }),
};
