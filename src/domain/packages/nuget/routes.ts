/** NuGet packages, of projects and of the projects below a group, by both versions of the protocol (facts-packages: 1.6). */
import Type, { type Static } from 'typebox';
import { anyone } from '../../../kernel/access/access.ts';
import { onGroupPackages, onPackages } from '../../../kernel/access/package-access.ts';
import { downloadStatuses, replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { badRequest, type Failure, forbidden, notFound, unauthenticated } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../../platform/http/parameters/raw-parameters.ts';
import { file } from '../../../platform/http/parameters/schema.ts';
import { withUpload } from '../publishing/receive.ts';
import { Created, created } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { onlyIn } from '../records/queries.ts';
import { type Registry, registryOfGroup, registryOfProject } from '../records/registries.ts';
import { deleteVersion, publishArchive } from './actions.ts';
import {
  type Addresses,
  inOrder,
  presentVersion,
  Registration,
  registration,
  SearchResults,
  ServiceIndex,
  searchResults,
  serviceIndex,
  VersionEntry,
} from './documents.ts';
import { answerTo, metadataDocument, requestOf, serviceDocument } from './odata.ts';
import { checksumsOf, spelledSignature } from './portable-pdb.ts';
import { searchVersions, selectPackageFile, selectVersions, type VersionRow } from './queries.ts';
import { type PackageEnding, requireVersion } from './rules.ts';
import { findSymbolServer, selectSymbols } from './symbol-queries.ts';

const project = '/projects/:id/packages/nuget';
const group = '/groups/:id/-/packages/nuget';

const read = { method: 'GET', packageScope: 'read_package_registry', jobToken: true } as const;
const write = { packageScope: 'write_package_registry', jobToken: true } as const;
const OneName = Type.Object({ package_name: Type.String() });
const OneFile = Type.Object({ ...OneName.properties, file_name: Type.String() });
const SearchInput = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 255, description: 'A part of the name, in any case.' })),
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  take: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 20 })),
  prerelease: Type.Optional(Type.Boolean({ default: true })),
});

/** Names of one answer: each comes with all its versions. */
const MAX_TAKEN = 100;

type Context = { db: Db; services: Needs<'baseUrl'> };

const addressesOf = ({ services }: Context, { path }: Pick<Registry, 'path'>): Addresses => {
  const api = `${services.baseUrl()}/api/v4`;
  return { api, base: `${api}${path}` };
};

const xml = (text: string, type = 'application/xml') =>
  new Reply(200, Buffer.from(text), { 'content-type': `${type}; charset=utf-8` });

async function versionsOf(
  { db }: Context,
  { projects }: Registry,
  name: string,
  missing: () => Failure,
): Promise<VersionRow[]> {
  const rows = await selectVersions(db, projects, name);
  if (rows.length === 0) throw missing();
  return rows;
}

const search = async (
  context: Context,
  registry: Registry,
  { q = '', skip = 0, take = 20, prerelease = true }: Static<typeof SearchInput>,
) => {
  const input = { q, skip, take: Math.min(take, MAX_TAKEN), prerelease };
  const { total, versions } = await searchVersions(context.db, registry.projects, input);
  return searchResults(addressesOf(context, registry), total, versions);
};

async function oneVersion(
  context: Context,
  registry: Registry,
  { package_name, file_name }: Static<typeof OneFile>,
  missing: () => Failure,
) {
  if (!file_name.endsWith('.json')) throw missing();
  const version = requireVersion(file_name.slice(0, -'.json'.length));
  const [row] = await selectVersions(context.db, registry.projects, package_name, version);
  if (!row) throw missing();
  return presentVersion(addressesOf(context, registry), row);
}

const ODataInput = Type.Object({
  resource: Type.String({
    description:
      "`$metadata`, `Packages()` with a `$filter`, `Packages(Id='…',Version='…')` or `FindPackagesById()` with an `id`.",
  }),
  $filter: Type.Optional(Type.String({ maxLength: 1_024, description: "Such as `Id eq 'name'`." })),
});

async function odata(
  context: Context & { request: Pick<HttpRequest, 'query'> },
  registry: Registry,
  { resource, $filter: filter }: Static<typeof ODataInput>,
) {
  // The id of the project is another one.
  const { id } = parseUrlEncoded(context.request.query);
  const asked = requestOf(resource, { id: typeof id === 'string' ? id : undefined, filter });
  if (!asked) throw notFound();
  if (asked.kind === 'metadata') return xml(metadataDocument);
  const rows = await selectVersions(context.db, registry.projects, asked.id);
  const text = answerTo(asked, addressesOf(context, registry), rows);
  return xml(found(text, 'Package'), 'application/atom+xml');
}

/** Programs ask for it before they know that they need a credential: it says nothing of the project or group. */
const indexOf = (path: typeof project | typeof group, of: string, pathOf: (id: string) => string): Endpoint =>
  endpoint({
    ...read,
    path: `${path}/index.json`,
    summary: `Where the services of NuGet ${of} are.`,
    access: anyone,
    input: Type.Object({ id: Type.String() }),
    reply: ServiceIndex,
    handle: async (context) => {
      const { base } = addressesOf(context, { path: pathOf(encodeURIComponent(context.input.id)) });
      return serviceIndex(base, path === project);
    },
  });

const publishing = (path: string, summary: string, ending: PackageEnding): Endpoint =>
  endpoint({
    ...write,
    method: 'PUT',
    path: `${project}${path}`,
    summary,
    access: onPackages('publish_packages'),
    stream: true,
    also: [409],
    input: Type.Object(
      { package: Type.Optional(file({ description: `The .${ending} file.` })) },
      { ruled: { required: ['package'] } },
    ),
    status: 201,
    reply: Created,
    handle: async (context) => {
      await withUpload(context, 'nuget', { field: 'package', raw: false }, (upload) =>
        publishArchive(context, upload, ending),
      );
      return created;
    },
  });

const symbolsOf = (path: typeof project | typeof group, of: string): Endpoint =>
  endpoint({
    ...read,
    path: `${path}/symbolfiles/:file_name/:signature/:same_file_name`,
    summary: `A portable PDB in the packages of symbols ${of}, where a group has its symbol server on: debuggers need no credential.`,
    access: anyone,
    also: downloadStatuses,
    input: Type.Object({
      id: Type.String(),
      file_name: Type.String(),
      signature: Type.String({ description: 'The GUID of the PDB without hyphens, and `FFFFFFFF`.' }),
      same_file_name: Type.String({ description: 'The same as `file_name`.' }),
    }),
    reply: bytesOf('application/octet-stream'),
    handle: async ({ services, request, db, input }) => {
      const kind = path === project ? 'project' : 'group';
      const among = await findSymbolServer(services.database, kind, input.id);
      if (!among) throw forbidden();
      const { symbolchecksum: header = '' } = request.headers;
      if (header === '') throw badRequest('Missing checksum header');
      if (input.same_file_name !== input.file_name)
        throw badRequest('same_file_name is not the same as file_name');
      const row = await selectSymbols(db, among, {
        name: input.file_name,
        signature: spelledSignature(input.signature),
        checksums: checksumsOf(String(header)),
      });
      const { sha256, file_name: name } = found(row, 'Symbol');
      return replyWithBlob(services, request, { sha256, name });
    },
  });

const readProject = { ...read, access: onPackages('read_packages') };
const readGroup = { ...read, access: onGroupPackages({ opened: 'with_credential' }) };
const noPackage = () => notFound('Package');

const projectEndpoints: Endpoint[] = [
  indexOf(project, 'of a project', (id) => `/projects/${id}/packages/nuget`),
  endpoint({
    ...readProject,
    path: `${project}/query`,
    summary: 'Finds NuGet packages of a project by a part of their names.',
    input: SearchInput,
    reply: SearchResults,
    handle: (context) => search(context, registryOfProject('nuget', context), context.input),
  }),
  endpoint({
    ...readProject,
    path: `${project}/metadata/:package_name/index.json`,
    summary: 'All versions of a NuGet package of a project, the oldest first.',
    input: OneName,
    reply: Registration,
    handle: async (context) => {
      const registry = registryOfProject('nuget', context);
      const rows = await versionsOf(context, registry, context.input.package_name, noPackage);
      return registration(addressesOf(context, registry), rows);
    },
  }),
  endpoint({
    ...readProject,
    path: `${project}/metadata/:package_name/:file_name`,
    summary: 'A version of a NuGet package of a project: `<version>.json`.',
    input: OneFile,
    reply: VersionEntry,
    handle: (context) => oneVersion(context, registryOfProject('nuget', context), context.input, noPackage),
  }),
  endpoint({
    ...readProject,
    path: `${project}/download/:package_name/index.json`,
    summary: 'The versions of a NuGet package of a project, the oldest first.',
    input: OneName,
    reply: Type.Object({ versions: Type.Array(Type.String()) }),
    handle: async (context) => {
      const registry = registryOfProject('nuget', context);
      const rows = await versionsOf(context, registry, context.input.package_name, noPackage);
      return { versions: inOrder(rows).map(({ version }) => version) };
    },
  }),
  endpoint({
    ...readProject,
    path: `${project}/download/:package_name/:package_version/:file_name`,
    takesRest: true,
    summary: 'The archive of a version of a NuGet package, or of its symbols.',
    also: downloadStatuses,
    input: Type.Object({ ...OneFile.properties, package_version: Type.String() }),
    reply: bytesOf('application/octet-stream'),
    handle: async (context) => {
      const { package_name: name, package_version, file_name: fileName } = context.input;
      const key = { name, version: requireVersion(package_version), fileName };
      const row = await selectPackageFile(context.db, onlyIn(context.subject), key);
      return replyWithFile(context, found(row, 'Package'));
    },
  }),
  endpoint({
    ...readProject,
    path: `${project}/v2`,
    summary: 'Where the packages of NuGet of a project are, by version 2 of the protocol.',
    reply: bytesOf('application/xml'),
    handle: async (context) =>
      xml(serviceDocument(addressesOf(context, registryOfProject('nuget', context)).base)),
  }),
  endpoint({
    ...readProject,
    path: `${project}/v2/:resource`,
    takesRest: true,
    summary: 'NuGet packages of a project by version 2 of the protocol.',
    input: ODataInput,
    reply: bytesOf('application/xml', 'application/atom+xml'),
    handle: (context) => odata(context, registryOfProject('nuget', context), context.input),
  }),
  publishing('', 'Publishes a NuGet package.', 'nupkg'),
  publishing('/v2', 'The same for programs of version 2 of the protocol.', 'nupkg'),
  publishing('/symbolpackage', 'Publishes the symbols of a NuGet package.', 'snupkg'),
  symbolsOf(project, 'of a project'),
  endpoint({
    ...write,
    method: 'DELETE',
    path: `${project}/:package_name/:package_version`,
    summary: 'Deletes a version of a NuGet package.',
    access: onPackages('delete_packages'),
    input: Type.Object({ ...OneName.properties, package_version: Type.String() }),
    reply: noContent,
    handle: async (context) => {
      const { actor, input } = context;
      // Deploy tokens have no role that deletes.
      if (!actor) throw unauthenticated();
      const key = { name: input.package_name, version: requireVersion(input.package_version) };
      await deleteVersion({ ...context, actor }, key, context.unmodified);
      return null;
    },
  }),
];

const groupEndpoints: Endpoint[] = [
  indexOf(group, 'of a group', (id) => `/groups/${id}/-/packages/nuget`),
  endpoint({
    ...readGroup,
    path: `${group}/query`,
    summary: 'Finds NuGet packages of the projects below a group by a part of their names.',
    input: SearchInput,
    reply: SearchResults,
    handle: (context) => search(context, registryOfGroup('nuget', context), context.input),
  }),
  endpoint({
    ...readGroup,
    path: `${group}/metadata/:package_name/index.json`,
    summary: 'All versions of a NuGet package of the projects below a group, the oldest first.',
    input: OneName,
    reply: Registration,
    handle: async (context) => {
      const registry = registryOfGroup('nuget', context);
      const { package_name } = context.input;
      const rows = await versionsOf(context, registry, package_name, context.subject.missing);
      return registration(addressesOf(context, registry), rows);
    },
  }),
  endpoint({
    ...readGroup,
    path: `${group}/metadata/:package_name/:file_name`,
    summary: 'A version of a NuGet package of the projects below a group: `<version>.json`.',
    input: OneFile,
    reply: VersionEntry,
    handle: (context) =>
      oneVersion(context, registryOfGroup('nuget', context), context.input, context.subject.missing),
  }),
  endpoint({
    ...readGroup,
    path: `${group}/v2`,
    summary: 'Where the packages of NuGet of the projects below a group are, by version 2 of the protocol.',
    reply: bytesOf('application/xml'),
    handle: async (context) =>
      xml(serviceDocument(addressesOf(context, registryOfGroup('nuget', context)).base)),
  }),
  endpoint({
    ...readGroup,
    path: `${group}/v2/:resource`,
    takesRest: true,
    summary: 'NuGet packages of the projects below a group by version 2 of the protocol.',
    input: ODataInput,
    reply: bytesOf('application/xml', 'application/atom+xml'),
    handle: (context) => odata(context, registryOfGroup('nuget', context), context.input),
  }),
  symbolsOf(group, 'of the projects below a group'),
];

export const nugetEndpoints: Endpoint[] = [...projectEndpoints, ...groupEndpoints];
