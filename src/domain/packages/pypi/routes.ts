/** Python packages, of projects and of groups (facts-packages: 1.4). */
import type { Readable } from 'node:stream';
import Type from 'typebox';
import { onGroupPackages, onPackages } from '../../../kernel/access/package-access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { file } from '../../../platform/http/parameters/schema.ts';
import { forwarded } from '../forwarding/forwarding.ts';
import { type Level, levelOfGroup, levelOfProject } from '../forwarding/queries.ts';
import { pypiAddress } from '../forwarding/rules.ts';
import { normalName } from '../names/python-names.ts';
import { publishFile, requirePublishable } from '../publishing/publish-actions.ts';
import { withUpload } from '../publishing/receive.ts';
import { Created, created } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { type Registry, registryOfGroup, registryOfProject } from '../records/registries.ts';
import { type Document, filesDocument, indexTypes, namesDocument } from './index-pages.ts';
import { hasFile, selectDistribution, selectIndexed, selectNames } from './queries.ts';
import { isName, pythonFile } from './rules.ts';

const OneName = Type.Object({ package_name: Type.String() });
const OneFile = Type.Object({
  sha256: Type.String({ pattern: '^[0-9a-fA-F]{64}$' }),
  file_name: Type.String(),
});
const read = { packageScope: 'read_package_registry', jobToken: true } as const;

/** Fields of the form that describe the file. */
const described = ['name', 'version', 'requires_python', 'sha256_digest', 'md5_digest'];

type Context = { db: Db; services: Needs<'baseUrl' | 'blobs' | 'log'>; request: HttpRequest };

const replyWith = ({ type, text }: Document): Reply<Buffer> =>
  new Reply(200, Buffer.from(text), {
    'content-type': type === 'text/html' ? `${type}; charset=utf-8` : type,
  });

async function names({ db, request }: Context, { projects }: Registry): Promise<Reply<Buffer>> {
  // Links are relative to the index, whose address may end with a slash or not.
  const base = request.path.replace(/\/+$/, '');
  return replyWith(namesDocument(base, await selectNames(db, projects), request.headers.accept?.toString()));
}

async function files(
  context: Context & { settings: ApplicationSettings },
  registry: Registry,
  level: Level,
  given: string,
): Promise<Reply<Buffer>> {
  const { db, services, request } = context;
  const name = normalName(given);
  const rows = await selectIndexed(db, registry.projects, name);
  if (rows.length === 0) {
    const elsewhere = isName(given) && (await forwarded(context, 'pypi', level, name, pypiAddress(name)));
    if (elsewhere) return elsewhere;
    throw notFound();
  }
  const root = `${services.baseUrl()}/api/v4${registry.path}/files`;
  const document = filesDocument(
    name,
    rows,
    ({ sha256, file_name }) => `${root}/${sha256.toString('hex')}/${encodeURIComponent(file_name)}`,
    request.headers.accept?.toString(),
  );
  return replyWith(document);
}

async function download(
  context: Context,
  { projects }: Registry,
  { sha256, file_name: fileName }: { sha256: string; file_name: string },
): Promise<Reply<Readable>> {
  const row = await selectDistribution(context.db, projects, {
    sha256: Buffer.from(sha256, 'hex'),
    fileName,
  });
  return replyWithFile(context, found(row, 'Package'));
}

const project = '/projects/:id/packages/pypi';
const group = '/groups/:id/-/packages/pypi';
const readProject = { ...read, access: onPackages('read_packages') };
const readGroup = { ...read, access: onGroupPackages() };

export const pythonEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: project,
    summary: 'Publishes a file of a Python package.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    stream: true,
    input: Type.Object(
      {
        name: Type.Optional(Type.String()),
        version: Type.Optional(Type.String()),
        requires_python: Type.Optional(Type.String()),
        sha256_digest: Type.Optional(Type.String()),
        md5_digest: Type.Optional(Type.String()),
        content: Type.Optional(file({ description: 'The distribution.' })),
      },
      { ruled: { required: ['name', 'version', 'content'] } },
    ),
    reply: Created,
    handle: async (context) => {
      await withUpload(
        context,
        'pypi',
        { field: 'content', raw: false, others: described },
        async (upload) => {
          const { name, version, fileName, metadata } = pythonFile(upload.fields, upload.filename ?? '', {
            sha256: upload.sha256.toString('hex'),
            md5: upload.digests.get('md5')?.toString('hex') ?? '',
          });
          const publishable = await requirePublishable(context, { type: 'pypi', name });
          await publishFile(
            context,
            upload,
            { ...publishable, version },
            { name: fileName, metadata },
            async (tx, row) => {
              if (!row.is_new && (await hasFile(tx, row.id, fileName)))
                throw new Failure('bad_request', 'Validation failed: File name has already been taken');
            },
          );
        },
      );
      return created;
    },
  }),
  endpoint({
    ...readProject,
    method: 'GET',
    path: `${project}/simple`,
    summary: 'The index of the Python packages of a project.',
    reply: bytesOf(...indexTypes),
    handle: (context) => names(context, registryOfProject('pypi', context)),
  }),
  endpoint({
    ...readProject,
    method: 'GET',
    path: `${project}/simple/:package_name`,
    summary: 'The files of a Python package of a project.',
    input: OneName,
    also: [302],
    reply: bytesOf(...indexTypes),
    handle: (context) => {
      const level = levelOfProject(context.subject);
      return files(context, registryOfProject('pypi', context), level, context.input.package_name);
    },
  }),
  endpoint({
    ...readProject,
    method: 'GET',
    path: `${project}/files/:sha256/:file_name`,
    takesRest: true,
    summary: 'A file of a Python package of a project.',
    also: downloadStatuses,
    input: OneFile,
    reply: bytesOf('application/octet-stream'),
    handle: (context) => download(context, registryOfProject('pypi', context), context.input),
  }),
  endpoint({
    ...readGroup,
    method: 'GET',
    path: `${group}/simple`,
    summary: 'The index of the Python packages of the projects below a group.',
    reply: bytesOf(...indexTypes),
    handle: (context) => names(context, registryOfGroup('pypi', context)),
  }),
  endpoint({
    ...readGroup,
    method: 'GET',
    path: `${group}/simple/:package_name`,
    summary: 'The files of a Python package of the projects below a group.',
    input: OneName,
    also: [302],
    reply: bytesOf(...indexTypes),
    handle: (context) => {
      const level = levelOfGroup(context.subject);
      return files(context, registryOfGroup('pypi', context), level, context.input.package_name);
    },
  }),
  endpoint({
    ...readGroup,
    method: 'GET',
    path: `${group}/files/:sha256/:file_name`,
    takesRest: true,
    summary: 'A file of a Python package of the projects below a group.',
    also: downloadStatuses,
    input: OneFile,
    reply: bytesOf('application/octet-stream'),
    handle: (context) => download(context, registryOfGroup('pypi', context), context.input),
  }),
];
