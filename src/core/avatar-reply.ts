/** The picture of a group or project as the answer of an endpoint. */
import { notFound } from '../platform/failure.ts';
import { Reply } from './endpoint.ts';
import { readAvatar } from './uploads.ts';

/** The stored picture's bytes; 404 without one. */
export async function replyWithAvatar(dataFolder: string, avatar: string | null): Promise<Reply<Buffer>> {
  const picture = avatar === null ? undefined : await readAvatar(dataFolder, avatar);
  if (!picture || !Buffer.isBuffer(picture.body)) throw notFound('Avatar');
  return new Reply(picture.status, picture.body, picture.headers);
}
