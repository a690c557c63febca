/** Takes the file of a form into a draft of a blob. */
import type { Draft, Received } from '../../platform/blobs/blobs.ts';
import { Failure } from '../../platform/failure.ts';
import { receiveFile } from '../../platform/http/bodies/multipart-file.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import type { Needs } from '../services.ts';
import { cleanName } from './upload-names.ts';

export const missingFile = (): Failure =>
  new Failure('bad_request', '400 Bad request - "file" not given', { error: 'file is missing' });

/** A file that has come, with a name that is safe to show. */
export type ReceivedFile = Received & { filename: string; draft: Draft };

/**
 * Calls `use` with the body's `file`; it is gone afterwards unless `use` has kept it. 400 for a body without one, 413 for more
 * bytes than `maximum`, 503 when the disk is full.
 */
export async function withReceivedFile<T>(
  { services, request }: { services: Needs<'blobs'>; request: Pick<HttpRequest, 'bodyStream' | 'headers'> },
  options: {
    maximum: number;
    /** Is told of the other fields of the body. */
    field?(name: string, value: string): void;
  },
  use: (file: ReceivedFile) => Promise<T>,
): Promise<T> {
  const draft = await services.blobs.draft();
  try {
    const received = await receiveFile(request.bodyStream, request.headers, {
      name: 'file',
      write: (piece) => draft.write(piece),
      ...options,
    });
    if (!received) throw missingFile();
    return await use({ ...(await draft.finish()), filename: cleanName(received.filename), draft });
  } finally {
    await draft.discard();
  }
}
