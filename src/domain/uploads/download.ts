/** An uploaded file as a reply that no browser runs. */
import type { Readable } from 'node:stream';
import { replyWithBlob } from '../../kernel/api/blob-reply.ts';
import type { Reply } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import type { UploadRow } from './actions.ts';
import { pictureType } from './rules.ts';

/** 404 when its bytes are gone. */
export async function replyWithUpload(
  services: Needs<'blobs'>,
  { sha256, filename }: Pick<UploadRow, 'sha256' | 'filename'>,
  request: HttpRequest,
): Promise<Reply<Readable>> {
  if (!sha256) throw notFound();
  const picture = pictureType(filename);
  return replyWithBlob(services, request, {
    sha256,
    name: filename,
    ...(picture && { inline: true, contentType: picture }),
  });
}
