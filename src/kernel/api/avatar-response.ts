/** Avatar responses: of the API endpoint, and of the address in records. */
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import { avatarFilename, pictureTypes, readAvatar } from '../files/pictures.ts';
import type { Needs } from '../services.ts';
import { bytesOf, Reply } from './endpoint.ts';

export const AvatarPicture = bytesOf(...pictureTypes);

/** The stored picture's bytes; 404 without one. */
export async function replyWithAvatar(
  services: Needs<'blobs'>,
  avatar: string | null,
): Promise<Reply<Buffer>> {
  const picture = avatar === null ? undefined : await readAvatar(services, avatar);
  if (!picture || !Buffer.isBuffer(picture.body)) throw notFound('Avatar');
  return new Reply(picture.status, picture.body, picture.headers);
}

/** The response to `/uploads/-/system/…/:filename`; 404 for any name but the stored one. */
export async function avatarResponse(
  services: Needs<'blobs'>,
  avatar: string | null,
  filename: string | undefined,
): Promise<HttpResponse> {
  const named = avatar !== null && avatarFilename(avatar) === filename;
  const picture = named ? await readAvatar(services, avatar) : undefined;
  if (!picture) throw notFound();
  return picture;
}
