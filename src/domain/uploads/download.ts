/** An uploaded file as a response that no browser runs. */
import { Readable } from 'node:stream';
import type { Needs } from '../../kernel/services.ts';
import { notFound } from '../../platform/failure.ts';
import { dispositionHeader } from '../../platform/http/disposition.ts';
import type { UploadRow } from './actions.ts';
import { pictureType } from './rules.ts';

export type Download = { headers: Record<string, string>; body: Readable };

/** The file's headers, and its bytes where they are requested; 404 when it is gone. */
export async function downloadOf(
  { blobs }: Needs<'blobs'>,
  upload: Pick<UploadRow, 'sha256' | 'filename'>,
  method: string,
): Promise<Download> {
  const file = upload.sha256 && (await blobs.open(upload.sha256));
  if (!file) throw notFound();
  const picture = pictureType(upload.filename);
  const headers = {
    'content-type': picture ?? 'application/octet-stream',
    'content-length': String(file.size),
    'content-disposition': dispositionHeader(picture ? 'inline' : 'attachment', upload.filename),
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, max-age=0, must-revalidate',
  };
  if (method !== 'HEAD') return { headers, body: file.stream() };
  await file.close();
  return { headers, body: Readable.from([]) };
}
