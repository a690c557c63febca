/** Blobs by their ids (facts: Repository). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import { isAbbreviatedId } from '../../../platform/git/names.ts';
import type { GitFolder, ObjectInfo } from '../../../platform/git/objects.ts';
import { readRepository } from '../commits/queries.ts';
import { readBlob } from './queries.ts';
import { limitRaw, RawFile, replyWithBlob } from './raw-reply.ts';

const input = Type.Object({ sha: Type.String({ description: 'Id of the blob.' }) });
const access = onProject('read_code');

const BlobRecord = Type.Object({
  size: Type.Integer(),
  encoding: Type.String(),
  content: Type.String(),
  sha: Type.String(),
});

async function findBlob(git: GitFolder, sha: string): Promise<ObjectInfo> {
  const info = isAbbreviatedId(sha) ? await git.info(sha.toLowerCase()) : undefined;
  return found(info?.type === 'blob' ? info : undefined, 'Blob');
}

export const blobEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/blobs/:sha',
    summary: 'A blob of a repository, its content in base64.',
    access,
    also: [422],
    input,
    reply: BlobRecord,
    handle: async ({ services, subject: project, input: { sha } }) => {
      const read = await readRepository(services, project, async (git) => {
        const info = await findBlob(git, sha);
        const content = (await readBlob(git, info)).toString('base64');
        return { size: info.size, encoding: 'base64', content, sha: info.oid };
      });
      return found(read, 'Blob');
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/blobs/:sha/raw',
    summary: 'The bytes of a blob of a repository.',
    access,
    input,
    reply: RawFile,
    also: [304, 422],
    handle: async ({ services, settings, subject: project, input: { sha }, request }) => {
      await limitRaw(services, settings, project, sha);
      const reply = await replyWithBlob(services, project, request, async (git) => {
        const info = await findBlob(git, sha);
        return { name: info.oid, info };
      });
      return found(reply, 'Blob');
    },
  }),
];
