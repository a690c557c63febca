/** Files of a repository, for reading: as a record, raw, and line by line (facts: Repository). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { replyWithBlob as replyWithStored } from '../../../kernel/api/blob-reply.ts';
import { type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { POINTER_BYTES, pointedObject } from '../../lfs/index.ts';
import { readRepository } from '../commits/queries.ts';
import { fileHeaders } from './present.ts';
import { blameFile, describeFile, type FileAddress, findFile, readFile } from './queries.ts';
import { limitRaw, RawFile, replyWithBlob } from './raw-reply.ts';
import { BlameInput, BlameRecord, FileRecord, fileFields } from './schema.ts';

const access = onProject('read_code');

/** Reads from a project's repository; 404 when it has none. */
const reading = async <T>(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  read: (git: GitFolder) => Promise<T>,
): Promise<T> => found(await readRepository(services, project, read), 'File');

/** HEAD: all of GET but the content, as headers; nothing of it is hashed into an ETag. */
const described = async (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  address: FileAddress,
): Promise<Reply<never>> => {
  const description = await reading(services, project, (git) => describeFile(git, address));
  return new Reply<never>(200, undefined, { ...fileHeaders(description), 'cache-control': 'no-store' });
};

/** The large file that the file points to. */
async function findLargeFile(
  db: Db,
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  address: FileAddress,
): Promise<{ sha256: Buffer; name: string } | undefined> {
  const file = await reading(services, project, async (git) => {
    const { name, info } = await findFile(git, address);
    return {
      name,
      content: info.size <= POINTER_BYTES.most ? (await git.read(info.oid))?.content : undefined,
    };
  });
  const sha256 = file.content && (await pointedObject(db, project, file.content));
  return sha256 && { sha256, name: file.name };
}

export const rawFileEndpoint = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path/raw',
  summary: 'The bytes of a file of a repository.',
  access,
  input: Type.Object({
    ...fileFields,
    lfs: Type.Optional(Type.Boolean({ description: 'The large file that it points to, if it does.' })),
  }),
  reply: RawFile,
  also: [206, 304, 416, 422],
  handle: async ({ db, services, settings, subject: project, input, request }) => {
    await limitRaw(services, settings, project, input.file_path);
    const large = input.lfs ? await findLargeFile(db, services, project, input) : undefined;
    if (large) return replyWithStored(services, request, large);
    return found(await replyWithBlob(services, project, request, (git) => findFile(git, input)), 'File');
  },
});

export const fileEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/files/:file_path',
    summary: 'A file of a repository, its content in base64.',
    access,
    also: [422],
    input: Type.Object(fileFields),
    reply: FileRecord,
    handle: async ({ services, subject: project, input, request }) => {
      if (request.method === 'HEAD') return described(services, project, input);
      const { content, ...description } = await reading(services, project, (git) => readFile(git, input));
      return new Reply(200, { ...description, content }, fileHeaders(description));
    },
  }),
  rawFileEndpoint,
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/files/:file_path/blame',
    summary: 'The commits that the lines of a file came with.',
    access,
    also: [422],
    input: BlameInput,
    reply: Type.Array(BlameRecord),
    handle: async ({ services, subject: project, input, request }) => {
      if (request.method === 'HEAD') return described(services, project, input);
      return reading(services, project, (git) => blameFile(git, input, input.range));
    },
  }),
];
