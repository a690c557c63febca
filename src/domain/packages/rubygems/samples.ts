/** A gem for each user, named as they are. */
import { gzipSync } from 'node:zlib';
import type { Samples } from '../../../../test/support/samples.ts';
import { tarFile } from '../../../../test/support/tar.ts';

function archiveOf(name: string): Buffer {
  const content = gzipSync(`---\nname: ${name}\nversion:\n  version: '1.0'\n`);
  const archive = tarFile({ name: 'metadata.gz', content: 'a'.repeat(content.length) });
  content.copy(archive, 512);
  return archive;
}

const GEM =
  '"version": "1.0", "platform": "ruby", "authors": [], "email": [], "licenses": [], "metadata": {}, "dependencies": [], "requiredRuby": [], "requiredRubygems": []';

const gems = ({ project }: { project: number }) => `package_type = 'rubygems' and project_id = ${project}`;

export const samples: Samples = {
  after: ['packages'],
  rows: ({ project }) => `
    insert into packages (project_id, package_type, name, version, creator_id, created_at, updated_at)
      select ${project}, 'rubygems', username, '1.0', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, metadata, created_at)
      select id, name || '-1.0.gem', (select sha256 from blobs order by sha256 limit 1), 7, '', '',
        jsonb_build_object('name', name) || '{${GEM}}'::jsonb, now()
      from packages where package_type = 'rubygems' order by id`,
  objects: {
    'Marshal.4.8/:file_name': { table: 'packages', column: `name || '-1.0.gemspec.rz'`, where: gems },
    'gems/:file_name': { table: 'packages', column: `name || '-1.0.gem'`, where: gems },
    'info/:gem_name': { table: 'packages', column: 'name', where: gems },
  },
  requests: () => ({
    'POST /projects/:id/packages/rubygems/api/v1/gems': { file: ['file', 'new.gem', archiveOf('new')] },
  }),
};
