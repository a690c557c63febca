/** Repositories of Debian packages, of projects and of the projects below a group (facts-packages: 1.10). */
import Type, { type Static } from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import {
  type GroupPackages,
  onGroupPackages,
  onPackages,
  type ProjectIds,
} from '../../../kernel/access/package-access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { downloadStatuses, replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { withUpload } from '../publishing/receive.ts';
import { Created, created } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { onlyIn } from '../records/queries.ts';
import { type Owner, selectNamed } from './distribution-queries.ts';
import { distributionEndpoints } from './distribution-routes.ts';
import { selectIndex, selectIndexByHash, selectOrigins, selectPooled } from './queries.ts';
import { currentRelease, type View } from './release-actions.ts';
import { kindOf, pooledAt, requestedAt } from './rules.ts';
import { takeUpload } from './upload-actions.ts';

const project = '/projects/:id/packages/debian';
const group = '/groups/:id/-/packages/debian';

const read = { method: 'GET', packageScope: 'read_package_registry', jobToken: true } as const;

const InDists = Type.Object({
  distribution: Type.String({ description: 'Its codename or its suite.' }),
  index_path: Type.String({
    description:
      '`InRelease`, `Release`, `Release.gpg`, or below a component `binary-<architecture>/Packages`, `source/Sources`, `debian-installer/binary-<architecture>/Packages`, also with `.gz`, and `by-hash/SHA256/<digest>` in their places.',
  }),
});
const InPool = Type.Object({
  distribution: Type.String({ description: 'Its codename.' }),
  pool_path: Type.String({
    description: '`<letter>/<source>/<version>/<file>`; of a group, below the id of the project.',
  }),
});

type Place = { owner: Owner; projects: ProjectIds };
type Context = {
  db: Db;
  services: Needs<'database' | 'blobs' | 'secretKey' | 'log'>;
  request: HttpRequest;
};

async function viewOf(db: Db, { owner, projects }: Place, name: string): Promise<View> {
  const distribution = found(await selectNamed(db, owner, name), 'Distribution');
  return { distribution, origins: await selectOrigins(db, distribution, projects) };
}

const types = { Release: 'text/plain', InRelease: 'text/plain', 'Release.gpg': 'application/pgp-signature' };

async function index(context: Context, place: Place, input: Static<typeof InDists>) {
  const { db, services, request } = context;
  const wanted = requestedAt(input.index_path);
  if (!wanted) throw notFound();
  const view = await viewOf(db, place, input.distribution);
  if (wanted.kind === 'hash') {
    const kept = found(await selectIndexByHash(db, view.distribution, view.origins, wanted));
    return replyWithBlob(services, request, kept);
  }
  const release = await currentRelease(services, view);
  if (wanted.kind === 'index')
    return replyWithBlob(services, request, found(await selectIndex(db, release, wanted.path)));
  const { release: text, signed_release, signature } = release;
  const texts = { Release: text, InRelease: signed_release, 'Release.gpg': signature };
  return new Reply(200, Buffer.from(texts[wanted.kind]), { 'content-type': types[wanted.kind] });
}

async function pooled(context: Context, place: Place, input: Static<typeof InPool>) {
  const isOfGroup = 'namespace_id' in place.owner;
  const wanted = pooledAt(input.pool_path, isOfGroup);
  if (!wanted) throw notFound('Package');
  const { origins } = await viewOf(context.db, place, input.distribution);
  return replyWithFile(context, found(await selectPooled(context.db, origins, wanted), 'Package'));
}

const repositoryOf = <Subject>(
  path: typeof project | typeof group,
  of: string,
  access: Access<Subject, Caller>,
  placeOf: (subject: Subject) => Place,
): Endpoint[] => [
  endpoint({
    ...read,
    path: `${path}/dists/:distribution/:index_path`,
    takesRest: true,
    summary: `The release of a distribution of Debian packages ${of}, its signatures, and its indexes.`,
    access,
    also: downloadStatuses,
    input: InDists,
    reply: bytesOf('application/octet-stream', 'text/plain', 'application/pgp-signature'),
    handle: (context) => index(context, placeOf(context.subject), context.input),
  }),
  endpoint({
    ...read,
    path: `${path}/pool/:distribution/:pool_path`,
    takesRest: true,
    summary: `A file of a distribution of Debian packages ${of}.`,
    access,
    also: downloadStatuses,
    input: InPool,
    reply: bytesOf('application/octet-stream'),
    handle: (context) => pooled(context, placeOf(context.subject), context.input),
  }),
];

export const debianEndpoints: Endpoint[] = [
  ...distributionEndpoints,
  ...repositoryOf(project, 'of a project', onPackages('read_packages'), (subject: AuthorizedProject) => ({
    owner: { project_id: subject.id },
    projects: onlyIn(subject),
  })),
  ...repositoryOf(group, 'of the projects below a group', onGroupPackages(), (subject: GroupPackages) => ({
    owner: { namespace_id: subject.groupId },
    projects: subject.projects,
  })),
  endpoint({
    method: 'PUT',
    path: `${project}/:file_name`,
    summary:
      'Publishes a Debian package in a distribution, or takes a file of an upload that a `.changes` file describes.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    stream: true,
    input: Type.Object({
      file_name: Type.String(),
      distribution: Type.Optional(
        Type.String({ description: 'The codename or suite; for `.deb`, `.udeb` and `.ddeb` alone.' }),
      ),
      component: Type.Optional(Type.String({ description: 'With `distribution`: one of its components.' })),
    }),
    status: 201,
    reply: Created,
    handle: async (context) => {
      const { file_name: fileName, ...input } = context.input;
      kindOf(fileName);
      await withUpload(context, 'debian', {}, (upload) => takeUpload(context, upload, fileName, input));
      return created;
    },
  }),
];
