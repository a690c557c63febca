/** Gems of a project (facts-packages: 1.11), with the compact index beside the older ones. */
import { promisify } from 'node:util';
import { deflate, gzip } from 'node:zlib';
import Type from 'typebox';
import { onPackages } from '../../../kernel/access/package-access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import { badRequest, notFound } from '../../../platform/failure.ts';
import { startDigest } from '../../../platform/secret.ts';
import { publishFile, requirePublishable } from '../publishing/publish-actions.ts';
import { withUpload } from '../publishing/receive.ts';
import { Created, created } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import {
  dependenciesDocument,
  infoText,
  namesText,
  type SpecsKind,
  specification,
  specsDocument,
  versionsText,
} from './documents.ts';
import { readDescription } from './gem-archive.ts';
import { isNameTaken, selectGem, selectGems } from './queries.ts';
import { fileNameOf, gemOf } from './rules.ts';

const project = '/projects/:id/packages/rubygems';
const read = {
  method: 'GET',
  access: onPackages('read_packages'),
  packageScope: 'read_package_registry',
  jobToken: true,
} as const;

const pack = promisify(gzip);
const packShort = promisify(deflate);

/** Names that are asked for at once. */
const MAX_NAMES = 200;

const bytes = (content: Buffer) => new Reply(200, content, { 'content-type': 'application/octet-stream' });
/** Programs before Bundler 2.5 take its ETag for the MD5 of what has come, and refuse what has another one. */
const text = (content: string) =>
  new Reply(200, Buffer.from(content), {
    'content-type': 'text/plain; charset=utf-8',
    etag: `W/"${startDigest('md5').update(content).digest('hex')}"`,
  });

const specs = (kind: SpecsKind, what: string): Endpoint =>
  endpoint({
    ...read,
    path: `${project}/${kind}.4.8.gz`,
    summary: `Names, versions and platforms of ${what} of gems, as Ruby writes them.`,
    reply: bytesOf('application/octet-stream'),
    handle: async ({ db, subject }) => bytes(await pack(specsDocument(await selectGems(db, subject), kind))),
  });

export const gemEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: `${project}/api/v1/gems`,
    summary: 'Publishes a gem.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    stream: true,
    reply: Created,
    handle: async (context) => {
      await withUpload(context, 'rubygems', { field: 'file' }, async (upload) => {
        const gem = gemOf(await readDescription(upload.draft.path));
        const { name, version } = gem;
        const publishable = await requirePublishable(context, { type: 'rubygems', name });
        const file = { name: fileNameOf(gem), metadata: gem };
        await publishFile(context, upload, { ...publishable, version }, file, async (tx, row) => {
          if (await isNameTaken(tx, row, file.name))
            throw badRequest(`${file.name} is the file of another gem`);
        });
      });
      return created;
    },
  }),
  endpoint({
    ...read,
    path: `${project}/api/v1/dependencies`,
    summary: 'The versions of gems and what they need, as Ruby writes them.',
    input: Type.Object({
      gems: Type.Optional(Type.String({ maxLength: 20_000, description: 'Names, with commas between.' })),
    }),
    reply: bytesOf('application/octet-stream'),
    handle: async ({ db, subject, input }) => {
      const names = (input.gems ?? '').split(',').filter((name) => name !== '');
      if (names.length > MAX_NAMES) throw badRequest(`gems has more than ${MAX_NAMES} names`);
      return bytes(dependenciesDocument(await selectGems(db, subject, names)));
    },
  }),
  specs('specs', 'releases'),
  specs('latest_specs', 'the newest releases'),
  specs('prerelease_specs', 'versions before their release'),
  endpoint({
    ...read,
    path: `${project}/quick/Marshal.4.8/:file_name`,
    takesRest: true,
    summary: 'The specification of a gem: `<name>-<version>.gemspec.rz`.',
    input: Type.Object({ file_name: Type.String() }),
    reply: bytesOf('application/octet-stream'),
    handle: async ({ db, subject, input }) => {
      const [, name] = /^(.+)\.gemspec\.rz$/.exec(input.file_name) ?? [];
      const file = name === undefined ? undefined : await selectGem(db, subject, `${name}.gem`);
      if (!file) throw notFound('Package');
      return bytes(await packShort(specification({ ...file, name: file.gem.name })));
    },
  }),
  endpoint({
    ...read,
    path: `${project}/gems/:file_name`,
    takesRest: true,
    summary: 'A gem: `<name>-<version>.gem`.',
    also: downloadStatuses,
    input: Type.Object({ file_name: Type.String() }),
    reply: bytesOf('application/octet-stream'),
    handle: async (context) =>
      replyWithFile(
        context,
        found(await selectGem(context.db, context.subject, context.input.file_name), 'Package'),
      ),
  }),
  endpoint({
    ...read,
    path: project,
    summary: 'Nothing: programs that find it ask for the compact index.',
    reply: bytesOf('text/plain'),
    handle: async () => text(''),
  }),
  endpoint({
    ...read,
    path: `${project}/names`,
    summary: 'The names of all gems.',
    reply: bytesOf('text/plain'),
    handle: async ({ db, subject }) => text(namesText(await selectGems(db, subject))),
  }),
  endpoint({
    ...read,
    path: `${project}/versions`,
    summary: 'All gems with their versions.',
    reply: bytesOf('text/plain'),
    handle: async ({ db, subject }) => text(versionsText(await selectGems(db, subject))),
  }),
  endpoint({
    ...read,
    path: `${project}/info/:gem_name`,
    summary: 'The versions of a gem, and what they need.',
    input: Type.Object({ gem_name: Type.String() }),
    reply: bytesOf('text/plain'),
    handle: async ({ db, subject, input }) => {
      const gems = await selectGems(db, subject, [input.gem_name]);
      if (gems.length === 0) throw notFound('Package');
      return text(infoText(gems));
    },
  }),
];
