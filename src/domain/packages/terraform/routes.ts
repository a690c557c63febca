/** Terraform modules: of projects, and by the protocol of module registries for top-level groups (facts-packages: 1.13). */
import Type from 'typebox';
import { anyone } from '../../../kernel/access/access.ts';
import {
  type GroupPackages,
  onGroupPackages,
  onPackages,
  type ProjectIds,
} from '../../../kernel/access/package-access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, notFound, unauthenticated } from '../../../platform/failure.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { deriveKey } from '../../../platform/secret.ts';
import { compareVersions } from '../names/semver.ts';
import { selectMayComeAgain } from '../publishing/duplicate-queries.ts';
import { publishFile, requirePublishable } from '../publishing/publish-actions.ts';
import { selectFileByKey } from '../publishing/queries.ts';
import { withUpload } from '../publishing/receive.ts';
import { Created, created } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { type FetchedFile, onlyIn } from '../records/queries.ts';
import { isTakenElsewhere, selectFileById, selectSource, selectVersions } from './queries.ts';
import { fileToken, moduleFile, moduleName, openedFile, requireVersion } from './rules.ts';

const registry = '/packages/terraform/modules/v1';
const ofSystem = `${registry}/:module_namespace/:module_name/:module_system` as const;
const ofVersion = `${ofSystem}/:module_version` as const;
const inProject = '/projects/:id/packages/terraform/modules/:module_name/:module_system' as const;

const oneModule = { module_name: Type.String(), module_system: Type.String() };
const oneVersion = { ...oneModule, module_version: Type.String() };
const namespace = { module_namespace: Type.String({ description: 'The path of a top-level group.' }) };

const read = { method: 'GET', packageScope: 'read_package_registry', jobToken: true } as const;
const readRegistry = {
  ...read,
  access: onGroupPackages({ parameter: 'module_namespace', opened: 'to_everybody' }),
};
const readProject = { ...read, access: onPackages('read_packages') };

const keyOf = ({ secretKey }: Needs<'secretKey'>): Buffer => deriveKey(secretKey, 'terraform modules');

type Named = { module_name: string; module_system: string };
type InRegistry = Named & { module_namespace: string };

const nameOf = (input: Named): string => moduleName(input.module_name, input.module_system);

/** All versions of a module, the newest first. */
const versionsOf = async (db: Db, projects: ProjectIds, name: string): Promise<string[]> =>
  (await selectVersions(db, projects, name)).sort((one, other) => compareVersions(other, one));

async function fileOf(
  db: Db,
  projects: ProjectIds,
  input: Named,
  version: string,
): Promise<FetchedFile | undefined> {
  const name = nameOf(input);
  return selectFileByKey(
    db,
    projects,
    { type: 'terraform_module', name, version },
    moduleFile(name, version),
  );
}

const Root = Type.Object({
  dependencies: Type.Array(Type.String()),
  providers: Type.Array(Type.Object({ name: Type.String(), version: Type.String() })),
});
const Versions = Type.Object({
  modules: Type.Array(
    Type.Object({
      source: Type.String(),
      versions: Type.Array(
        Type.Object({ version: Type.String(), submodules: Type.Array(Type.String()), root: Root }),
      ),
    }),
  ),
});
const Module = Type.Object({
  name: Type.String(),
  provider: Type.String(),
  providers: Type.Array(Type.String()),
  root: Type.Object({ dependencies: Type.Array(Type.String()) }),
  source: Type.String(),
  submodules: Type.Array(Type.String()),
  version: Type.String(),
  versions: Type.Array(Type.String()),
});

type RegistryContext = { db: Db; services: Needs<'baseUrl' | 'secretKey'>; subject: GroupPackages };

/** The newest version, or the one that is asked for. */
async function describe({ db, services, subject }: RegistryContext, input: InRegistry, asked?: string) {
  const name = nameOf(input);
  const versions = await versionsOf(db, subject.projects, name);
  const version = asked === undefined ? versions[0] : versions.find((each) => each === asked);
  if (version === undefined) throw subject.missing();
  const source = await selectSource(db, subject.projects, { name, version });
  return {
    name: name,
    provider: input.module_system,
    providers: [input.module_system],
    root: { dependencies: [] },
    source: `${services.baseUrl()}/${source ?? ''}`,
    submodules: [],
    version,
    versions,
  };
}

const pathIn = (input: InRegistry, version: string): string =>
  `/api/v4${registry}/${[input.module_namespace, input.module_name, input.module_system, version]
    .map(encodeURIComponent)
    .join('/')}`;

const registryEndpoints: Endpoint[] = [
  endpoint({
    ...readRegistry,
    path: `${ofSystem}/versions`,
    summary: 'The versions of a Terraform module of the projects below a top-level group, the newest first.',
    input: Type.Object({ ...namespace, ...oneModule }),
    reply: Versions,
    handle: async (context) => {
      const { source, versions, provider } = await describe(context, context.input);
      const root = { dependencies: [], providers: [{ name: provider, version: '' }] };
      return {
        modules: [{ source, versions: versions.map((version) => ({ version, submodules: [], root })) }],
      };
    },
  }),
  endpoint({
    ...readRegistry,
    path: ofSystem,
    summary: 'The newest version of a Terraform module.',
    input: Type.Object({ ...namespace, ...oneModule }),
    reply: Module,
    handle: (context) => describe(context, context.input),
  }),
  endpoint({
    ...readRegistry,
    path: ofVersion,
    summary: 'A version of a Terraform module.',
    input: Type.Object({ ...namespace, ...oneVersion }),
    reply: Module,
    handle: (context) => describe(context, context.input, context.input.module_version),
  }),
  endpoint({
    ...readRegistry,
    path: `${ofSystem}/download`,
    summary: 'Leads to the newest version of a Terraform module.',
    input: Type.Object({ ...namespace, ...oneModule }),
    status: 302,
    reply: noContent,
    handle: async (context) => {
      const { version } = await describe(context, context.input);
      const location = `${context.request.origin}${pathIn(context.input, version)}/download`;
      return new Reply(302, null, { location });
    },
  }),
  endpoint({
    ...readRegistry,
    path: `${ofVersion}/download`,
    summary: 'Where the file of a Terraform module is, in the header X-Terraform-Get.',
    input: Type.Object({ ...namespace, ...oneVersion }),
    status: 204,
    reply: noContent,
    handle: async ({ db, services, subject, input }) => {
      const file = await fileOf(db, subject.projects, input, input.module_version);
      if (!file) throw subject.missing();
      const token = fileToken(keyOf(services), file.id, now());
      const address = `${services.baseUrl()}${pathIn(input, input.module_version)}/file`;
      return new Reply(204, null, { 'x-terraform-get': `${address}?token=${token}&archive=tgz` });
    },
  }),
  endpoint({
    method: 'GET',
    path: `${ofVersion}/file`,
    summary: 'The file of a Terraform module, for those who were given its address.',
    access: anyone,
    packageScope: 'read_package_registry',
    also: downloadStatuses,
    input: Type.Object({ ...namespace, ...oneVersion, token: Type.Optional(Type.String()) }),
    reply: bytesOf('application/octet-stream'),
    handle: async (context) => {
      const { db, services, input } = context;
      const id = openedFile(keyOf(services), input.token ?? '', now());
      if (id === undefined) throw unauthenticated();
      return replyWithFile(context, found(await selectFileById(db, id), 'Package'));
    },
  }),
];

const Archive = Type.Object({
  ...oneModule,
  'terraform-get': Type.Optional(
    Type.String({ description: '`1` for the address in the header X-Terraform-Get.' }),
  ),
});
type ArchiveContext = Parameters<typeof replyWithFile>[0] & { subject: Parameters<typeof onlyIn>[0] };

async function replyWithArchive(
  context: ArchiveContext,
  input: Named & { 'terraform-get'?: string },
  asked: string | undefined,
) {
  const { db, subject, request } = context;
  const projects = onlyIn(subject);
  const version = asked ?? (await versionsOf(db, projects, nameOf(input)))[0];
  const file = version === undefined ? undefined : await fileOf(db, projects, input, version);
  if (!file) throw notFound('Package');
  if (input['terraform-get'] !== '1') return replyWithFile(context, file);
  const address = `${request.origin}${request.path}?archive=tgz`;
  return new Reply<never>(204, undefined, { 'x-terraform-get': address });
}

const projectEndpoints: Endpoint[] = [
  endpoint({
    method: 'PUT',
    path: `${inProject}/:module_version/file`,
    summary: 'Publishes a version of a Terraform module.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    stream: true,
    input: Type.Object(oneVersion),
    status: 201,
    reply: Created,
    handle: async (context) => {
      const { subject, input } = context;
      const name = nameOf(input);
      const version = input.module_version;
      requireVersion(version);
      const publishable = await requirePublishable(context, { type: 'terraform_module', name });
      await withUpload(context, 'terraform_module', { field: 'file' }, (upload) =>
        publishFile(
          context,
          upload,
          { ...publishable, version },
          { name: moduleFile(name, version) },
          async (tx, row) => {
            if (!row.is_new) throw new Failure('forbidden', 'Package version already exists.');
            const isTaken = await isTakenElsewhere(tx, subject, name);
            if (isTaken && !(await selectMayComeAgain(tx, 'terraform_module', row)))
              throw new Failure('forbidden', 'Package already exists.');
          },
        ),
      );
      return created;
    },
  }),
  endpoint({
    ...readProject,
    path: inProject,
    summary: 'The newest version of a Terraform module of a project.',
    also: [204, ...downloadStatuses],
    input: Archive,
    reply: bytesOf('application/octet-stream'),
    handle: (context) => replyWithArchive(context, context.input, undefined),
  }),
  endpoint({
    ...readProject,
    path: `${inProject}/:module_version`,
    summary: 'A version of a Terraform module of a project.',
    also: [204, ...downloadStatuses],
    input: Type.Object({ ...Archive.properties, module_version: Type.String() }),
    reply: bytesOf('application/octet-stream'),
    handle: (context) => replyWithArchive(context, context.input, context.input.module_version),
  }),
];

export const terraformEndpoints: Endpoint[] = [...registryEndpoints, ...projectEndpoints];

const document = Buffer.from(JSON.stringify({ 'modules.v1': `/api/v4${registry}/` }));

/** By which programs find the registry of a host. */
export const terraformRoutes: Route[] = [
  {
    kind: 'static',
    method: 'GET',
    path: '/.well-known/terraform.json',
    crossOrigin: 'any',
    handle: async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: document,
      sameForAll: true,
    }),
  },
];
