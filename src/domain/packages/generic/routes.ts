/** Generic packages: any file under a name and a version (facts-packages: 1.2). */
import Type from 'typebox';
import { onPackages } from '../../../kernel/access/package-access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { selectMayComeAgain } from '../publishing/duplicate-queries.ts';
import { publishFile, requirePublishable } from '../publishing/publish-actions.ts';
import { selectFileByKey, selectHasFile } from '../publishing/queries.ts';
import { withUpload } from '../publishing/receive.ts';
import { Created, created, duplicate, PublishedFile, presentPublished } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { onlyIn } from '../records/queries.ts';
import { genericFile, optionsOf } from './rules.ts';

const path = '/projects/:id/packages/generic/:package_name/:file_path' as const;

const address = {
  package_name: Type.String({ description: 'Letters, digits, `.`, `_`, `+` and `-`.' }),
  file_path: Type.String({
    description: 'The version, the folders of the file where it has some, and its name.',
  }),
};

export const genericEndpoints: Endpoint[] = [
  endpoint({
    method: 'PUT',
    path,
    takesRest: true,
    summary: 'Publishes a file of a generic package.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    stream: true,
    input: Type.Object({
      ...address,
      status: Type.Optional(stringEnum(['default', 'hidden'])),
      select: Type.Optional(stringEnum(['package_file'], { description: 'For the record of the file.' })),
    }),
    status: 201,
    reply: Type.Union([Created, PublishedFile]),
    handle: async (context) => {
      const { subject, services, input } = context;
      const { name, version, fileName } = genericFile(input.package_name, input.file_path);
      const publishable = await requirePublishable(context, { type: 'generic', name });
      const form = { field: 'file', others: ['status', 'select'] };
      return withUpload(context, 'generic', form, async (upload) => {
        const { selects, ...status } = optionsOf(input, upload.fields);
        const file = { name: fileName };
        const given = { ...publishable, version, ...status };
        const published = await publishFile(context, upload, given, file, async (tx, row) => {
          if (!(await selectHasFile(tx, row, fileName))) return;
          if (!(await selectMayComeAgain(tx, 'generic', row))) throw duplicate();
        });
        return selects ? presentPublished(services.baseUrl(), subject, published) : created;
      });
    },
  }),
  endpoint({
    method: 'GET',
    path,
    takesRest: true,
    summary: 'A file of a generic package; the newest of its name.',
    access: onPackages('read_packages'),
    packageScope: 'read_package_registry',
    jobToken: true,
    also: downloadStatuses,
    input: Type.Object(address),
    reply: bytesOf('application/octet-stream'),
    handle: async (context) => {
      const { db, subject, input } = context;
      const { name, version, fileName, savedAs } = genericFile(input.package_name, input.file_path);
      const file = await selectFileByKey(db, onlyIn(subject), { type: 'generic', name, version }, fileName);
      return replyWithFile(context, found(file, 'Package'), { name: savedAs });
    },
  }),
];
