/** Packages of Maven, of projects, of groups, and by the full path of a project (facts-packages: 1.5). */
import type { Readable } from 'node:stream';
import Type from 'typebox';
import {
  onGroupPackages,
  onPackages,
  onPackagesAt,
  type ProjectIds,
} from '../../../kernel/access/package-access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import { receiveRaw } from '../../../platform/http/bodies/raw-file.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { forwarded } from '../forwarding/forwarding.ts';
import { type Level, levelOfGroup, levelOfProject } from '../forwarding/queries.ts';
import { mavenAddress } from '../forwarding/rules.ts';
import { selectMayComeAgain } from '../publishing/duplicate-queries.ts';
import { publishFile, requirePublishable } from '../publishing/publish-actions.ts';
import { selectFileByKey } from '../publishing/queries.ts';
import { withUpload } from '../publishing/receive.ts';
import { duplicate } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { onlyIn } from '../records/queries.ts';
import { selectIsThere } from './queries.ts';
import { isMetadata, type MavenFile, mavenFile, pathsOfProject, sentDigest } from './rules.ts';

const Address = Type.Object({
  maven_path: Type.String({
    description: 'The group and the artifact as a path, the version, and the name of the file.',
  }),
});
const read = {
  method: 'GET',
  takesRest: true,
  packageScope: 'read_package_registry',
  jobToken: true,
  also: downloadStatuses,
  input: Address,
  reply: bytesOf('application/octet-stream', 'text/plain'),
} as const;

const forwardedStatuses = [...downloadStatuses, 302] as const;

/** Of a digest that somebody sends. */
const MAX_DIGEST_BYTES = 1_024;

type Context = {
  db: Db;
  services: Needs<'blobs' | 'log'>;
  request: HttpRequest;
  input: { maven_path: string };
};

async function download(
  context: Context & { settings: ApplicationSettings },
  projects: ProjectIds,
  { missing = () => notFound('Package'), level }: { missing?: () => Failure; level?: Level } = {},
): Promise<Reply<Readable | Buffer>> {
  const { maven_path: path } = context.input;
  const { key, fileName, digest } = mavenFile(path);
  const file = await selectFileByKey(context.db, projects, key, fileName);
  if (!file) {
    const elsewhere = level && (await forwarded(context, 'maven', level, key.name, mavenAddress(path)));
    if (elsewhere) return elsewhere;
    throw missing();
  }
  if (!digest) return replyWithFile(context, file);
  return new Reply(200, Buffer.from(file[digest].toString('hex')), { 'content-type': 'text/plain' });
}

/** The digest is that of the file that came before it: 409 for another one. Those by MD5 are not looked at. */
async function compareDigest(
  { db, request }: Context,
  projects: ProjectIds,
  { key, fileName, digest }: MavenFile,
): Promise<Reply<null>> {
  const pieces: Buffer[] = [];
  await receiveRaw(request.bodyStream, {
    maximum: MAX_DIGEST_BYTES,
    write: async (piece) => pieces.push(piece),
  });
  if (digest === 'md5') return new Reply<null>(200, null);
  const file = await selectFileByKey(db, projects, key, fileName);
  if (!file) throw notFound('Package');
  if (sentDigest(Buffer.concat(pieces).toString()) !== file.sha1.toString('hex'))
    throw new Failure('conflict', '409 Conflict');
  return new Reply<null>(204, null);
}

const project = '/projects/:id/packages/maven/:maven_path' as const;

export const mavenEndpoints: Endpoint[] = [
  endpoint({
    method: 'PUT',
    path: project,
    takesRest: true,
    summary: 'Publishes a file of a Maven package, or compares its digest with one that is sent.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    stream: true,
    also: [204, 409],
    input: Address,
    status: 200,
    reply: noContent,
    handle: async (context) => {
      const file = mavenFile(context.input.maven_path);
      const publishable = await requirePublishable(context, { type: 'maven', name: file.key.name });
      if (file.digest) return compareDigest(context, onlyIn(context.subject), file);
      const { version } = file.key;
      await withUpload(context, 'maven', {}, (upload) =>
        publishFile(
          context,
          upload,
          { ...publishable, version },
          { name: file.fileName },
          async (tx, row) => {
            if (isMetadata(file.fileName) || row.is_new || (await selectMayComeAgain(tx, 'maven', row)))
              return;
            if (await selectIsThere(tx, row, file.fileName)) throw duplicate();
          },
        ),
      );
      return null;
    },
  }),
  endpoint({
    ...read,
    path: project,
    summary: 'A file of a Maven package of a project, or its digest by `.sha1` or `.md5` behind its name.',
    access: onPackages('read_packages'),
    also: forwardedStatuses,
    handle: (context) =>
      download(context, onlyIn(context.subject), { level: levelOfProject(context.subject) }),
  }),
  endpoint({
    ...read,
    path: '/groups/:id/-/packages/maven/:maven_path',
    summary: 'The same of the projects below a group.',
    access: onGroupPackages({ opened: 'to_everybody' }),
    also: forwardedStatuses,
    handle: (context) => {
      const { projects, missing } = context.subject;
      return download(context, projects, { missing, level: levelOfGroup(context.subject) });
    },
  }),
  endpoint({
    ...read,
    path: '/packages/maven/:maven_path',
    summary: 'The same of the project with whose full path the path of the package begins.',
    access: onPackagesAt('read_packages', 'maven_path', pathsOfProject),
    handle: (context) => download(context, onlyIn(context.subject)),
  }),
];
