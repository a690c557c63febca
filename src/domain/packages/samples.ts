/** A generic package for each user, with one file; a protection rule by each user's name. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Samples } from '../../../test/support/samples.ts';
import { blobPath } from '../../platform/blobs/blob-files.ts';
import { digest } from '../../platform/secret.ts';

const CONTENT = 'granite';

export const samples: Samples = {
  after: ['ci'],
  rows: ({ project }) => `
    insert into blobs (sha256, created_at) values (sha256('${CONTENT}'), now());
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
    insert into package_tags (package_id, name, created_at, updated_at)
      select id, 'latest', now(), now() from packages order by id;
    insert into package_protection_rules (project_id, package_name_pattern, package_type, push_level, created_at, updated_at)
      select ${project}, 'held-' || username, 'generic', 40, now(), now() from person order by id`,
  ownRows: ({ project }) => `
    insert into packages (project_id, package_type, name, version, created_at, updated_at)
      values (${project}, 'generic', 'own', '1.0', now(), now())`,
  async fill({ app }) {
    const file = blobPath(join(app.services.config.data, 'blobs'), digest(CONTENT).toString('hex'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, CONTENT);
  },
  objects: {
    'packages/:package_id': 'packages',
    'package_files/:package_file_id': {
      table: 'package_files',
      where: ({ project }) => `package_id in (select id from packages where project_id = ${project})`,
    },
    'rules/:package_protection_rule_id': 'package_protection_rules',
    'generic/:package_name': { table: 'packages', column: 'name' },
    ':package_name/:file_path': { value: '1.0/stone' },
    'simple/:package_name': {
      table: 'packages',
      column: 'name',
      where: ({ project }) => `package_type = 'pypi' and project_id = ${project}`,
    },
    'files/:sha256': { value: digest(CONTENT).toString('hex') },
    ':sha256/:file_name': { value: 'stone.whl' },
  },
  requests: () => ({
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
    'PUT /projects/:id/packages/generic/:package_name/:file_path': { at: { file_path: '2.0/stone' } },
  }),
};
