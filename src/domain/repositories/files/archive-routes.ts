/** A repository's files as one archive, which is made while it is sent (facts: Repository). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { bytesOf, type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import {
  type ArchiveOrder,
  archiveEnding,
  archiveFormats,
  canArchive,
  filesOfSize,
  refuseLargeArchive,
  streamArchive,
} from '../../../platform/git/files/archive.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { FOLDER_MODE, findEntry } from '../../../platform/git/trees.ts';
import { dispositionHeader } from '../../../platform/http/disposition.ts';
import { commaList, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { hasLargeFiles, POINTER_BYTES, type ReplacedPointers, replacedPointers } from '../../lfs/index.ts';
import { readRepository } from '../commits/queries.ts';
import { archiveName } from './archive-rules.ts';
import { replyWithStream } from './leased-stream.ts';
import { pathComponents } from './tree-queries.ts';

const ArchiveInput = Type.Object({
  sha: Type.Optional(Type.String({ description: 'Branch, tag or commit; the default branch unless given.' })),
  format: Type.Optional(stringEnum(archiveFormats, { description: '`tar.gz` unless given.' })),
  path: Type.Optional(Type.String({ maxLength: 4_096, description: 'Only what is below this path.' })),
  exclude_paths: Type.Optional(
    commaList(Type.String({ maxLength: 4_096 }), {
      maxItems: 100,
      description: 'Nothing of what is below these paths.',
    }),
  ),
  include_lfs_blobs: Type.Optional(
    Type.Boolean({ default: true, description: 'Large files of Git LFS in the places of their pointers.' }),
  ),
});

/** The order of an archive, with the large files in it; 404 for a revision or path that is not there. */
async function orderOf(
  services: Needs<'repositories' | 'database' | 'blobs'>,
  project: AuthorizedProject,
  input: Static<typeof ArchiveInput>,
): Promise<{ order: ArchiveOrder; large: ReplacedPointers | undefined }> {
  const { row } = project;
  const { sha, format = 'tar.gz', exclude_paths = [] } = input;
  const parts = pathComponents(input.path ?? '');
  const commit = await readRepository(services, project, async (git) => {
    const named = await findCommit(git, sha || 'HEAD');
    const entry = named && (await findEntry(git, named.tree, parts));
    const tree = entry?.mode === FOLDER_MODE ? entry.oid : undefined;
    await refuseLargeArchive(git, tree);
    return entry && { oid: named.oid, tree };
  });
  const path = parts.join('/');
  const exclude = exclude_paths.map((each) => pathComponents(each).join('/')).filter((each) => each !== '');
  const ref = sha || row.default_branch || 'HEAD';
  const { oid, tree } = found(commit, 'File');
  const order = { commit: oid, format, prefix: archiveName(row.path, ref, oid, path), path, exclude };
  const large =
    input.include_lfs_blobs === false || !(await hasLargeFiles(services.database.db, project))
      ? undefined
      : await readRepository(services, project, async (git) => {
          const files = await filesOfSize(git, order, POINTER_BYTES);
          const large = await replacedPointers(services, project, git, files);
          if (large) await refuseLargeArchive(git, tree, large.bytes);
          return large;
        });
  return { order, large };
}

const archiveAt = <Path extends string>(path: Path) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'The files of a repository as one archive.',
    access: onProject('read_code'),
    input: ArchiveInput,
    reply: bytesOf('application/zip', 'application/octet-stream'),
    also: [304, 422],
    handle: async ({ services, subject: project, input, request }) => {
      const { order, large } = await orderOf(services, project, input);
      if (!(await canArchive(order.format)))
        throw new Failure('unprocessable', 'This server cannot make bzip2 archives. Use tar.gz or zip.');
      const ending = archiveEnding(order.format);
      return replyWithStream(services, project, request, {
        identity: JSON.stringify(large ? [order, large.identity] : order),
        headers: {
          'content-type': ending === 'zip' ? 'application/zip' : 'application/octet-stream',
          'content-disposition': dispositionHeader('attachment', `${order.prefix}.${ending}`),
        },
        make: (git) => streamArchive(git.folder, order, large?.replacing),
      });
    },
  });

export const archiveEndpoint = archiveAt('/projects/:id/repository/archive');

export const archiveEndpoints: Endpoint[] = [
  archiveEndpoint,
  archiveAt('/projects/:id/repository/archive.:format'),
];
