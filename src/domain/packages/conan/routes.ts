/** Conan packages of projects with their revisions, as programs of version 2 ask for them (facts-packages: 1.9). */
import Type from 'typebox';
import { type Access, anyone } from '../../../kernel/access/access.ts';
import { onPackages } from '../../../kernel/access/package-access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { unauthenticated } from '../../../platform/failure.ts';
import { PublishedFile } from '../publishing/replies.ts';
import { onlyIn } from '../records/queries.ts';
import { removePart } from './actions.ts';
import {
  Files,
  OneRevision,
  Packages,
  presentFiles,
  presentPackages,
  presentRevision,
  presentRevisions,
  References,
  Revisions,
} from './documents.ts';
import {
  type Part,
  selectFilesAt,
  selectPackageRevisions,
  selectPackages,
  selectRecipeRevisions,
} from './queries.ts';
import {
  download,
  issuePass,
  oneReference,
  requireVisitor,
  SearchInput,
  search,
  take,
  text,
} from './requests.ts';
import { placeOf, type Reference, referenceOf } from './rules.ts';
import { unrevisedConanEndpoints } from './unrevised-routes.ts';

const project = '/projects/:id/packages/conan/v2';
const ofReference =
  `${project}/conans/:package_name/:package_version/:package_username/:package_channel` as const;
const ofRecipe = `${ofReference}/revisions/:recipe_revision` as const;
const ofPackage = `${ofRecipe}/packages/:conan_package_reference` as const;
const ofRevision = `${ofPackage}/revisions/:package_revision` as const;

const oneRecipe = {
  ...oneReference,
  recipe_revision: Type.String({ description: '32 or 40 hexadecimal digits.' }),
};
const onePackage = {
  ...oneRecipe,
  conan_package_reference: Type.String({ description: 'The digest of its settings and options.' }),
};
const oneRevision = { ...onePackage, package_revision: Type.String() };
const file_name = Type.String({ description: 'A name that Conan gives, or a path below `metadata/`.' });

const read = {
  method: 'GET',
  access: onPackages('read_packages'),
  packageScope: 'read_package_registry',
  jobToken: true,
  takesPass: true,
} as const;
const send = {
  ...read,
  takesRest: true,
  also: downloadStatuses,
  reply: bytesOf('application/octet-stream'),
} as const;
const receive = {
  method: 'PUT',
  access: onPackages('publish_packages'),
  packageScope: 'write_package_registry',
  jobToken: true,
  takesPass: true,
  takesRest: true,
  stream: true,
  reply: PublishedFile,
} as const;
/** Programs take no other status for success. */
const remove = {
  method: 'DELETE',
  access: onPackages('delete_packages'),
  packageScope: 'write_package_registry',
  jobToken: true,
  takesPass: true,
  status: 200,
  reply: noContent,
} as const;

type RemoveContext = Omit<Parameters<typeof removePart>[0], 'actor'> & {
  actor: Parameters<typeof removePart>[0]['actor'] | undefined;
  unmodified: Parameters<typeof removePart>[3];
};

async function removed(context: RemoveContext, reference: Reference, part?: Part): Promise<null> {
  const { actor } = context;
  // Deploy tokens have no role that deletes.
  if (!actor) throw unauthenticated();
  await removePart({ ...context, actor }, reference, part, context.unmodified);
  return null;
}

const PackagesInput = Type.Object({
  ...oneReference,
  list_only: Type.Optional(
    Type.String({ description: '`True` for the packages without what they are made for.' }),
  ),
});

const isListOnly = ({ list_only = '' }: { list_only?: string }): boolean =>
  list_only.toLowerCase() === 'true';

const recipeEndpoints: Endpoint[] = [
  endpoint({
    ...read,
    path: `${ofReference}/latest`,
    summary: 'The newest revision of a Conan recipe.',
    input: Type.Object(oneReference),
    reply: OneRevision,
    handle: async ({ db, subject, input }) => {
      const [newest] = await selectRecipeRevisions(db, subject, referenceOf(input), 1);
      return presentRevision(found(newest, 'Recipe'));
    },
  }),
  endpoint({
    ...read,
    path: `${ofReference}/revisions`,
    summary: 'The revisions of a Conan recipe, the newest first.',
    input: Type.Object(oneReference),
    reply: Revisions,
    handle: async ({ db, subject, input }) => {
      const reference = referenceOf(input);
      const revisions = await selectRecipeRevisions(db, subject, reference);
      found(revisions[0], 'Recipe');
      return presentRevisions(reference, revisions);
    },
  }),
  endpoint({
    ...read,
    path: `${ofReference}/search`,
    summary: 'The packages of the newest revision of a Conan recipe, with their settings and options.',
    input: PackagesInput,
    reply: Packages,
    handle: async ({ db, subject, input }) => {
      const reference = referenceOf(input);
      const [newest] = await selectRecipeRevisions(db, subject, reference, 1);
      const { revision } = found(newest, 'Recipe');
      const packages = await selectPackages(db, subject, reference, revision);
      return presentPackages(packages, (info) => (isListOnly(input) ? {} : info));
    },
  }),
  endpoint({
    ...remove,
    path: ofReference,
    summary: 'Deletes a Conan package with all its revisions.',
    input: Type.Object(oneReference),
    handle: (context) => removed(context, referenceOf(context.input)),
  }),
  endpoint({
    ...remove,
    path: ofRecipe,
    summary: 'Deletes a revision of a Conan recipe with its packages; with the last one the package goes.',
    input: Type.Object(oneRecipe),
    handle: (context) => {
      const { recipe_revision } = placeOf(context.input);
      return removed(context, referenceOf(context.input), { recipe_revision });
    },
  }),
  endpoint({
    ...read,
    path: `${ofRecipe}/search`,
    summary: 'The packages of a revision of a Conan recipe, with their settings and options.',
    input: Type.Object({ ...PackagesInput.properties, ...oneRecipe }),
    reply: Packages,
    handle: async ({ db, subject, input }) => {
      const reference = referenceOf(input);
      const place = placeOf(input);
      const packages = await selectPackages(db, subject, reference, place.recipe_revision);
      if (packages.length === 0) found((await selectFilesAt(db, subject, reference, place))[0], 'Recipe');
      return presentPackages(packages, (info) => (isListOnly(input) ? {} : info));
    },
  }),
];

const packageEndpoints: Endpoint[] = [
  endpoint({
    ...remove,
    path: `${ofRecipe}/packages`,
    summary: 'Deletes the packages of a revision of a Conan recipe.',
    input: Type.Object(oneRecipe),
    handle: (context) => {
      const { recipe_revision } = placeOf(context.input);
      return removed(context, referenceOf(context.input), { recipe_revision, packagesAlone: true });
    },
  }),
  endpoint({
    ...read,
    path: `${ofPackage}/latest`,
    summary: 'The newest revision of a package of a Conan recipe.',
    input: Type.Object(onePackage),
    reply: OneRevision,
    handle: async ({ db, subject, input }) => {
      const [newest] = await selectPackageRevisions(db, subject, referenceOf(input), placeOf(input), 1);
      return presentRevision(found(newest, 'Package'));
    },
  }),
  endpoint({
    ...read,
    path: `${ofPackage}/revisions`,
    summary: 'The revisions of a package of a Conan recipe, the newest first.',
    input: Type.Object(onePackage),
    reply: Revisions,
    handle: async ({ db, subject, input }) => {
      const reference = referenceOf(input);
      const place = placeOf(input);
      const revisions = await selectPackageRevisions(db, subject, reference, place);
      found(revisions[0], 'Package');
      return presentRevisions(reference, revisions, place);
    },
  }),
  endpoint({
    ...remove,
    path: ofPackage,
    summary: 'Deletes a package of a Conan recipe with all its revisions.',
    input: Type.Object(onePackage),
    handle: (context) => {
      const { recipe_revision, reference } = placeOf(context.input);
      return removed(context, referenceOf(context.input), { recipe_revision, reference });
    },
  }),
  endpoint({
    ...remove,
    path: ofRevision,
    summary: 'Deletes a revision of a package of a Conan recipe.',
    input: Type.Object(oneRevision),
    handle: (context) => removed(context, referenceOf(context.input), placeOf(context.input)),
  }),
];

/** Recipes and packages have their files alike. */
const placesOfFiles = [
  { path: ofRecipe, place: oneRecipe, whose: 'a Conan recipe', missing: 'Recipe' },
  { path: ofRevision, place: oneRevision, whose: 'a package of a Conan recipe', missing: 'Package' },
] as const;

const oneFileOf = (
  input: Parameters<typeof referenceOf>[0] & Parameters<typeof placeOf>[0] & { file_name: string },
) => ({
  reference: referenceOf(input),
  place: placeOf(input),
  fileName: input.file_name,
});

const fileEndpoints = placesOfFiles.flatMap(({ path, place, whose, missing }): Endpoint[] => [
  endpoint({
    ...read,
    path: `${path}/files`,
    summary: `The names of the files of a revision of ${whose}.`,
    input: Type.Object(place),
    reply: Files,
    handle: async ({ db, subject, input }) => {
      const files = await selectFilesAt(db, subject, referenceOf(input), placeOf(input));
      found(files[0], missing);
      return presentFiles(files);
    },
  }),
  endpoint({
    ...send,
    path: `${path}/files/:file_name`,
    summary: `A file of a revision of ${whose}.`,
    input: Type.Object({ ...place, file_name }),
    handle: (context) => download(context, oneFileOf(context.input)),
  }),
  endpoint({
    ...receive,
    path: `${path}/files/:file_name`,
    summary: `Publishes a file of a revision of ${whose}.`,
    input: Type.Object({ ...place, file_name }),
    handle: (context) => take(context, oneFileOf(context.input)),
  }),
]);

/** Below each of them; programs of version 2 ask at the address of version 1 what the server is able to. */
const visited = [
  { path: '/projects/:id/packages/conan/v1', visit: onPackages('read_packages'), able: 'revisions' },
  { path: '/projects/:id/packages/conan/v2', visit: onPackages('read_packages'), able: 'revisions' },
  { path: '/packages/conan/v1', visit: anyone, able: '' },
] as const;

const visitEndpoints = visited.flatMap(({ path, visit, able }): Endpoint[] => [
  endpoint({
    ...read,
    access: anyone,
    path: `${path}/ping`,
    summary: 'What the registry of Conan packages is able to, in the header X-Conan-Server-Capabilities.',
    reply: noContent,
    handle: async () => new Reply<null>(200, null, { 'x-conan-server-capabilities': able }),
  }),
  endpoint({
    ...read,
    access: visit as Access<unknown, Caller>,
    path: `${path}/users/authenticate`,
    summary: 'A token that stands for that of the caller for an hour.',
    reply: bytesOf('text/plain'),
    handle: async (context) => issuePass(context),
  }),
  endpoint({
    ...read,
    access: visit as Access<unknown, Caller>,
    path: `${path}/users/check_credentials`,
    summary: 'Whether the caller has a credential.',
    reply: bytesOf('text/plain'),
    handle: async (context) => {
      requireVisitor(context);
      return text('ok');
    },
  }),
]);

export const conanEndpoints: Endpoint[] = [
  ...visitEndpoints,
  endpoint({
    ...read,
    path: `${project}/conans/search`,
    summary: 'Finds Conan recipes of a project by their references.',
    input: SearchInput,
    reply: References,
    handle: ({ db, subject, input }) => search(db, onlyIn(subject), { protocol: 'v2' }, input),
  }),
  ...recipeEndpoints,
  ...packageEndpoints,
  ...fileEndpoints,
  ...unrevisedConanEndpoints,
];
