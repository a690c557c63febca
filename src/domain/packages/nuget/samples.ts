/** A NuGet package for each user, named as they are. */
import type { Samples } from '../../../../test/support/samples.ts';
import { zipOf } from '../../../../test/support/zip.ts';

const archiveOf = (id: string): Buffer =>
  zipOf({
    name: 'a.nuspec',
    content: `<package><metadata><id>${id}</id><version>1.0.0</version></metadata></package>`,
  });

export const samples: Samples = {
  after: ['packages'],
  rows: ({ project }) => `
    insert into packages (project_id, package_type, name, version, metadata, creator_id, created_at, updated_at)
      select ${project}, 'nuget', username, '1.0.0', '{"authors": "Ann", "dependencies": []}', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, created_at)
      select id, 'stone.nupkg', (select sha256 from blobs order by sha256 limit 1), 7, '', '', now()
      from packages where package_type = 'nuget' order by id`,
  objects: {
    ...Object.fromEntries(
      ['metadata', 'download', 'nuget'].map((before) => [
        `${before}/:package_name`,
        {
          table: 'packages',
          column: 'name',
          where: ({ project }: { project: number }) => `package_type = 'nuget' and project_id = ${project}`,
        },
      ]),
    ),
    ':package_name/:package_version': { value: '1.0.0' },
    ':package_name/:file_name': { value: '1.0.0.json' },
    ':package_version/:file_name': { value: 'stone.nupkg' },
    'symbolfiles/:file_name': { value: 'stone.pdb' },
    ':file_name/:signature': { value: '0FFFFFFFF' },
    ':signature/:same_file_name': { value: 'stone.pdb' },
    'v2/:resource': { value: '$metadata' },
  },
  requests: () => ({
    'PUT /projects/:id/packages/nuget': { file: ['package', 'new.nupkg', archiveOf('new')] },
    'PUT /projects/:id/packages/nuget/v2': { file: ['package', 'new.nupkg', archiveOf('new')] },
    'PUT /projects/:id/packages/nuget/symbolpackage': {
      file: ['package', 'new.snupkg', archiveOf('person-1')],
    },
  }),
};
