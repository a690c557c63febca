/** Conan packages without revisions, as programs of version 1 ask for them, of a project and of that which their user names. */
import Type from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { onInstancePackages, onPackages, onPackagesAt } from '../../../kernel/access/package-access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Context, type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import { badRequest, unauthenticated } from '../../../platform/failure.ts';
import { parseJsonBody } from '../../../platform/http/parameters/raw-parameters.ts';
import { receiveText } from '../publishing/receive.ts';
import { PublishedFile } from '../publishing/replies.ts';
import { onlyIn } from '../records/queries.ts';
import { removePart } from './actions.ts';
import {
  ByFile,
  presentPackages,
  presentRemoved,
  References,
  Removed,
  UnrevisedPackages,
} from './documents.ts';
import { selectFilesAt, selectPackages, withRecipes } from './queries.ts';
import { download, oneReference, SearchInput, search, take } from './requests.ts';
import {
  type FileLocation,
  projectPathsOf,
  type Reference,
  referenceOf,
  requireFile,
  UNREVISED,
  unrevisedInfo,
  unrevisedPlace,
} from './rules.ts';

type ProjectContext = Context<unknown, AuthorizedProject, Caller>;

/** Where the addresses begin, and whose packages they are about. */
type Level = {
  path: string;
  /** For the documentation. */
  of: string;
  access(ability: ProjectAbility): Access<AuthorizedProject, Caller>;
  /** The address as a program has it. */
  root(context: ProjectContext): string;
};

const ofProject: Level = {
  path: '/projects/:id/packages/conan/v1',
  of: 'of a project',
  access: (ability) => onPackages(ability),
  root: ({ services, subject }) => `${services.baseUrl()}/api/v4/projects/${subject.id}/packages/conan/v1`,
};
const ofInstance: Level = {
  path: '/packages/conan/v1',
  of: 'of the project whose path, with `+` for `/`, is the user of the package',
  access: (ability) => onPackagesAt(ability, 'package_username', projectPathsOf),
  root: ({ services }) => `${services.baseUrl()}/api/v4/packages/conan/v1`,
};

const onePackage = { ...oneReference, conan_package_reference: Type.String() };
const oneFile = {
  ...oneReference,
  recipe_revision: Type.String({ description: '`0`.' }),
  file_name: Type.String(),
};
const onePackageFile = { ...onePackage, ...oneFile, package_revision: Type.String({ description: '`0`.' }) };

type FileInput = {
  recipe_revision: string;
  conan_package_reference?: string;
  package_revision?: string;
};

function placeOf({
  recipe_revision,
  conan_package_reference,
  package_revision = UNREVISED,
}: FileInput): FileLocation {
  if (recipe_revision !== UNREVISED) throw badRequest('recipe_revision is invalid');
  if (package_revision !== UNREVISED) throw badRequest('package_revision is invalid');
  return unrevisedPlace(conan_package_reference);
}

function addressOf(
  root: string,
  { name, version, user, channel }: Reference,
  place: FileLocation,
  file: string,
): string {
  const folder =
    place.reference === ''
      ? [UNREVISED, 'export']
      : [UNREVISED, 'package', place.reference, place.package_revision];
  const parts = [name, version, user, channel, ...folder, file];
  return `${root}/files/${parts.map((part) => encodeURIComponent(part).replaceAll('%2B', '+')).join('/')}`;
}

type At = { reference: Reference; place: FileLocation };

async function filesOf({ db, subject }: ProjectContext, { reference, place }: At) {
  const files = await selectFilesAt(db, subject, reference, place);
  found(files[0], place.reference === '' ? 'Recipe' : 'Package');
  return files;
}

const snapshot = async (context: ProjectContext, at: At): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await filesOf(context, at)).map(({ file_name, md5 }) => [file_name, md5.toString('hex')]),
  );

const addresses = (
  level: Level,
  context: ProjectContext,
  { reference, place }: At,
  names: readonly string[],
) => Object.fromEntries(names.map((name) => [name, addressOf(level.root(context), reference, place, name)]));

const downloadAddresses = async (level: Level, context: ProjectContext, at: At) =>
  addresses(
    level,
    context,
    at,
    (await filesOf(context, at)).map(({ file_name }) => file_name),
  );

/** Of one request. */
const MAX_FILES = 1_000;

/** Programs send the sizes of the files by their names. */
async function uploadAddresses(level: Level, context: ProjectContext, at: At) {
  const names = Object.keys(parseJsonBody(await receiveText(context.request)));
  if (names.length > MAX_FILES) throw badRequest(`more than ${MAX_FILES} files`);
  for (const name of names) requireFile(at.place, name);
  return addresses(level, context, at, names);
}

function endpointsOf(level: Level): Endpoint[] {
  const read = {
    method: 'GET',
    access: level.access('read_packages'),
    packageScope: 'read_package_registry',
    jobToken: true,
    takesPass: true,
  } as const;
  const write = {
    access: level.access('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    takesPass: true,
  } as const;
  const ofReference =
    `${level.path}/conans/:package_name/:package_version/:package_username/:package_channel` as const;
  const ofFiles =
    `${level.path}/files/:package_name/:package_version/:package_username/:package_channel/:recipe_revision` as const;
  const places = [
    {
      path: ofReference,
      input: Type.Object(oneReference),
      kind: 'recipe',
      files: `${ofFiles}/export/:file_name`,
      fileInput: Type.Object(oneFile),
    },
    {
      path: `${ofReference}/packages/:conan_package_reference`,
      input: Type.Object(onePackage),
      kind: 'package',
      files: `${ofFiles}/package/:conan_package_reference/:package_revision/:file_name`,
      fileInput: Type.Object(onePackageFile),
    },
  ] as const;
  type PlaceInput = Parameters<typeof referenceOf>[0] & { conan_package_reference?: string };
  const at = (input: PlaceInput): At => ({
    reference: referenceOf(input),
    place: unrevisedPlace(input.conan_package_reference),
  });
  const fileAt = (input: PlaceInput & FileInput & { file_name: string }) => ({
    reference: referenceOf(input),
    place: placeOf(input),
    fileName: input.file_name,
  });
  return [
    ...places.flatMap(({ path, input, kind, files, fileInput }) => [
      endpoint({
        ...read,
        path,
        summary: `The MD5s of the files of a Conan ${kind} ${level.of}, by their names.`,
        input,
        reply: ByFile,
        handle: (context) => snapshot(context, at(context.input)),
      }),
      ...['digest', 'download_urls'].map((what) =>
        endpoint({
          ...read,
          path: `${path}/${what}`,
          summary: `The addresses of the files of a Conan ${kind} ${level.of}, by their names.`,
          input,
          reply: ByFile,
          handle: (context) => downloadAddresses(level, context, at(context.input)),
        }),
      ),
      endpoint({
        ...write,
        method: 'POST',
        path: `${path}/upload_urls`,
        summary: `Where the files of a Conan ${kind} ${level.of} are sent whose names are in the body.`,
        stream: true,
        input,
        status: 200,
        reply: ByFile,
        handle: (context) => uploadAddresses(level, context, at(context.input)),
      }),
      endpoint({
        ...read,
        path: files,
        summary: `A file of a Conan ${kind} ${level.of}.`,
        takesRest: true,
        also: downloadStatuses,
        input: fileInput,
        reply: bytesOf('application/octet-stream'),
        handle: (context) => download(context, fileAt(context.input)),
      }),
      endpoint({
        ...write,
        method: 'PUT',
        path: files,
        summary: `Publishes a file of a Conan ${kind} ${level.of}.`,
        takesRest: true,
        stream: true,
        input: fileInput,
        reply: PublishedFile,
        handle: (context) => take(context, fileAt(context.input)),
      }),
    ]),
    endpoint({
      ...read,
      path: `${ofReference}/search`,
      summary: `The packages of a Conan recipe ${level.of}, with their settings and options.`,
      input: Type.Object(oneReference),
      reply: UnrevisedPackages,
      handle: async (context) => {
        const { db, subject, input } = context;
        await filesOf(context, at(input));
        return presentPackages(
          await selectPackages(db, subject, referenceOf(input), UNREVISED),
          unrevisedInfo,
        );
      },
    }),
    endpoint({
      ...write,
      method: 'DELETE',
      access: level.access('delete_packages'),
      path: ofReference,
      summary: `Deletes a Conan package ${level.of} with all its revisions.`,
      input: Type.Object(oneReference),
      status: 200,
      reply: Removed,
      handle: async (context) => {
        const { actor, input } = context;
        // Deploy tokens have no role that deletes.
        if (!actor) throw unauthenticated();
        return presentRemoved(
          await removePart({ ...context, actor }, referenceOf(input), undefined, context.unmodified),
        );
      },
    }),
  ];
}

export const unrevisedConanEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    access: onPackages('read_packages'),
    packageScope: 'read_package_registry',
    jobToken: true,
    takesPass: true,
    path: `${ofProject.path}/conans/search` as const,
    summary: 'Finds Conan recipes of a project that have no revisions by their references.',
    input: SearchInput,
    reply: References,
    handle: ({ db, subject, input }) => search(db, onlyIn(subject), { protocol: 'v1' }, input),
  }),
  endpoint({
    method: 'GET',
    access: onInstancePackages(() => withRecipes),
    packageScope: 'read_package_registry',
    jobToken: true,
    takesPass: true,
    path: `${ofInstance.path}/conans/search` as const,
    summary: 'Finds Conan recipes that have no revisions in all projects whose packages the caller reads.',
    input: SearchInput,
    reply: References,
    handle: ({ db, subject, input }) =>
      search(db, subject.projects, { protocol: 'v1', ofInstance: true }, input),
  }),
  ...endpointsOf(ofProject),
  ...endpointsOf(ofInstance),
];
