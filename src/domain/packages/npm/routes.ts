/** Packages of npm, of projects, of groups and of the instance (facts-packages: 1.3). */
import Type from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import {
  authorizePackages,
  type GroupPackages,
  onGroupPackages,
  onInstancePackages,
  onPackages,
  type ProjectIds,
} from '../../../kernel/access/package-access.ts';
import { belowRoot } from '../../../kernel/access/project-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import {
  bytesOf,
  type Context,
  type Endpoint,
  endpoint,
  noContent,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import { notFound, unauthenticated } from '../../../platform/failure.ts';
import { isForwarded } from '../forwarding/forwarding.ts';
import { type Level, levelOfGroup, levelOfProject, levelOfRoot } from '../forwarding/queries.ts';
import { npmAuditAddress } from '../forwarding/rules.ts';
import { replyWithFile } from '../records/download.ts';
import { onlyIn } from '../records/queries.ts';
import { removeTag, setTag, unpublish } from './actions.ts';
import { packageAddress, scopeOf } from './addresses.ts';
import { selectHome, selectTarball } from './queries.ts';
import { document, oneTag, put, tagsOf, versionIn } from './requests.ts';
import { missing, requireTag } from './rules.ts';

const OnePath = Type.Object({
  package_path: Type.String({ description: 'The name of the package, and what follows it in the address.' }),
});
const Done = Type.Object({ ok: Type.Boolean() });
const Advisories = Type.Array(Type.Unknown());
const read = { packageScope: 'read_package_registry', jobToken: true } as const;
const write = { packageScope: 'write_package_registry', jobToken: true } as const;

type Visiting = Pick<Context<unknown, unknown, Caller>, 'actor' | 'deployToken'>;

function requireVisitor({ actor, deployToken }: Visiting): string {
  const username = actor?.username ?? deployToken?.username;
  if (username === undefined) throw unauthenticated();
  return username;
}

/** A place of packages: the beginning of its addresses, and how its packages are found. */
type Place<Subject> = {
  path: string;
  /** For the documentation. */
  of: string;
  access: Access<Subject, Caller>;
  /** The projects whose packages the caller reads there. */
  projects(subject: Subject): ProjectIds;
  /** Where a name may be known; of the instance by the scope of the name. */
  level(subject: Subject, name: string): Level;
  /** For those who change tags: a project has it in its address, others are those of the package. */
  project(
    context: Context<unknown, Subject, Caller>,
    name: string,
    ability: ProjectAbility,
  ): Promise<AuthorizedProject>;
  accessForTags(ability: ProjectAbility): Access<Subject, Caller>;
  /** For addresses that name no package. */
  visit: Access<Subject, Caller>;
};

/** The project of the package that is read there; 404 without it. */
async function homeOf(
  context: Context<unknown, { projects: ProjectIds }, Caller>,
  name: string,
  ability: ProjectAbility,
): Promise<AuthorizedProject> {
  const id = await selectHome(context.db, context.subject.projects, name);
  if (id === undefined) throw missing('Package', 'Package');
  return authorizePackages(context.services.database.points, context, ability, id);
}

const ofProject: Place<AuthorizedProject> = {
  path: '/projects/:id/packages/npm',
  of: 'of a project',
  access: onPackages('read_packages'),
  projects: onlyIn,
  level: levelOfProject,
  project: async ({ subject }) => subject,
  accessForTags: onPackages,
  visit: onPackages('read_packages'),
};
const ofGroup: Place<GroupPackages> = {
  path: '/groups/:id/-/packages/npm',
  of: 'of the projects below a group',
  access: onGroupPackages(),
  projects: ({ projects }) => projects,
  level: levelOfGroup,
  project: homeOf,
  accessForTags: () => onGroupPackages(),
  visit: onGroupPackages(),
};
const onInstance = onInstancePackages((params) =>
  belowRoot(scopeOf(params.package_path ?? '').toLowerCase()),
);
const ofInstance: Place<{ projects: ProjectIds }> = {
  path: '/packages/npm',
  of: 'whose scope is the path of their group or user',
  access: onInstance,
  projects: ({ projects }) => projects,
  level: (_, name) => levelOfRoot(scopeOf(name)),
  project: homeOf,
  accessForTags: () => onInstance,
  visit: onInstance,
};

function endpointsOf<Subject>(place: Place<Subject>): Endpoint[] {
  const tags = `${place.path}/-/package/:package_path`;
  const audits = ['advisories/bulk', 'audits/quick'].map((path) =>
    endpoint({
      ...read,
      method: 'POST',
      path: `${place.path}/-/npm/v1/security/${path}`,
      summary: `No advisories: nothing is known about the packages ${place.of}. Leads to the public registry where names are forwarded.`,
      access: place.visit,
      scopes: ['api', 'read_api'],
      stream: true,
      status: 200,
      also: [307],
      reply: Advisories,
      handle: async (context) => {
        context.request.bodyStream.resume();
        requireVisitor(context);
        return (await isForwarded(context, 'npm', place.level(context.subject, '')))
          ? new Reply<never>(307, undefined, { location: npmAuditAddress(path) })
          : [];
      },
    }),
  );
  return [
    endpoint({
      ...read,
      method: 'GET',
      path: `${place.path}/-/ping`,
      summary: `Whether there is a registry for packages of npm ${place.of}.`,
      access: place.visit,
      reply: Type.Object({}),
      handle: async () => ({}),
    }),
    endpoint({
      ...read,
      method: 'GET',
      path: `${place.path}/-/whoami`,
      summary: `The user, or deploy token, that reads packages of npm ${place.of}.`,
      access: place.visit,
      reply: Type.Object({ username: Type.String() }),
      handle: async (context) => ({ username: requireVisitor(context) }),
    }),
    ...audits,
    endpoint({
      ...read,
      method: 'GET',
      path: tags,
      takesRest: true,
      summary: `The tags of a package of npm ${place.of}: \`<name>/dist-tags\`.`,
      access: place.access,
      input: OnePath,
      reply: Type.Record(Type.String(), Type.String()),
      handle: (context) => tagsOf(context, place.projects(context.subject), context.input.package_path),
    }),
    endpoint({
      ...write,
      method: 'PUT',
      path: tags,
      takesRest: true,
      summary: `Sets a tag of a package of npm ${place.of}: \`<name>/dist-tags/<tag>\`; the body is the version.`,
      access: place.accessForTags('publish_packages'),
      stream: true,
      input: OnePath,
      status: 204,
      reply: noContent,
      handle: async (context) => {
        const { name, tag } = oneTag(context.input.package_path);
        const version = await versionIn(context.request);
        const subject = await place.project(context, name, 'publish_packages');
        await setTag({ ...context, subject }, { name, tag: requireTag(tag), version });
        return null;
      },
    }),
    endpoint({
      ...write,
      method: 'DELETE',
      path: tags,
      takesRest: true,
      summary: `Removes a tag of a package of npm ${place.of}: \`<name>/dist-tags/<tag>\`.`,
      access: place.accessForTags('delete_packages'),
      input: OnePath,
      reply: noContent,
      handle: async (context) => {
        const named = oneTag(context.input.package_path);
        const subject = await place.project(context, named.name, 'delete_packages');
        await removeTag({ ...context, subject }, named, context.unmodified);
        return null;
      },
    }),
  ];
}

/** At a project there are tarballs as well. */
const documentOf = <Subject>(place: Place<Subject>): Endpoint =>
  endpoint({
    ...read,
    method: 'GET',
    path: `${place.path}/:package_path`,
    takesRest: true,
    summary: `A package of npm ${place.of}, with its versions.`,
    access: place.access,
    also: [302],
    input: OnePath,
    reply: bytesOf('application/json'),
    handle: (context) => {
      const { name, file, revision } = packageAddress(context.input.package_path);
      if (file !== undefined || revision !== undefined) throw notFound();
      const { subject } = context;
      return document(context, place.projects(subject), place.level(subject, name), name);
    },
  });

const path = `${ofProject.path}/:package_path` as const;

export const npmEndpoints: Endpoint[] = [
  ...endpointsOf(ofProject),
  endpoint({
    ...read,
    method: 'GET',
    path,
    takesRest: true,
    summary: 'A package of npm of a project, with its versions; or its tarball: `<name>/-/<file>`.',
    access: onPackages('read_packages'),
    also: [...downloadStatuses, 302],
    input: OnePath,
    reply: bytesOf('application/json', 'application/octet-stream'),
    handle: async (context) => {
      const { db, subject, input } = context;
      const { name, file, revision } = packageAddress(input.package_path);
      if (revision !== undefined) throw notFound();
      if (file === undefined) return document(context, onlyIn(subject), levelOfProject(subject), name);
      const row = await selectTarball(db, onlyIn(subject), name, file);
      if (!row) throw missing('Package', 'Package');
      return replyWithFile(context, row);
    },
  }),
  endpoint({
    ...write,
    method: 'PUT',
    path,
    takesRest: true,
    summary:
      'Publishes a version of a package of npm, with its tarball; with `Npm-Command: deprecate` deprecates versions.',
    access: onPackages('publish_packages'),
    stream: true,
    input: OnePath,
    reply: Done,
    handle: put,
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path,
    takesRest: true,
    summary:
      'Unpublishes a package of npm: `<name>/-rev/<revision>`, or a version of it: `<name>/-/<file>/-rev/<revision>`.',
    access: onPackages('delete_packages'),
    also: [409],
    input: OnePath,
    reply: noContent,
    handle: async (context) => {
      const { actor, input } = context;
      const { name, file, revision } = packageAddress(input.package_path);
      if (revision === undefined) throw notFound();
      // Deploy tokens have no role that deletes.
      if (!actor) throw unauthenticated();
      await unpublish({ ...context, actor }, { name, file, revision }, context.unmodified);
      return null;
    },
  }),
  ...endpointsOf(ofGroup),
  documentOf(ofGroup),
  ...endpointsOf(ofInstance),
  documentOf(ofInstance),
];
