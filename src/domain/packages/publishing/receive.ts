/** Takes the file that a package program sends: as the body, or as a field of a form. */
import type { Needs } from '../../../kernel/services.ts';
import type { Draft, Received } from '../../../platform/blobs/blobs.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import { receiveFile } from '../../../platform/http/bodies/multipart-file.ts';
import { receiveRaw } from '../../../platform/http/bodies/raw-file.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { maximumBytes, type PackageType } from '../records/types.ts';

export type Upload = Received & {
  draft: Draft;
  /** As the form names it. */
  filename: string | undefined;
  /** The other fields of the form. */
  fields: Readonly<Record<string, string>>;
};

const tooLarge = (cause?: unknown): Failure =>
  new Failure('bad_request', '400 Bad request - File is too large', { cause });

const isForm = ({ headers }: HttpRequest): boolean =>
  /^multipart\/form-data\b/i.test(String(headers['content-type'] ?? ''));

/**
 * Calls `use` with what has come: the field of a form, or else the body, where `raw` allows that. It is gone afterwards unless
 * `use` has published it. 400 for a file that is too large for its format, and for a form without it.
 */
export async function withUpload<T>(
  { services, request }: { services: Needs<'blobs'>; request: HttpRequest },
  type: PackageType,
  { field, raw = true }: { field?: string; raw?: boolean },
  use: (upload: Upload) => Promise<T>,
): Promise<T> {
  const maximum = maximumBytes[type];
  if (Number(request.headers['content-length'] ?? 0) > maximum + 1_048_576) {
    request.bodyStream.resume();
    throw tooLarge();
  }
  const draft = await services.blobs.draft(['md5', 'sha1']);
  try {
    const fields: Record<string, string> = {};
    const write = (piece: Buffer) => draft.write(piece);
    let filename: string | undefined;
    if (field !== undefined && isForm(request)) {
      const received = await receiveFile(request.bodyStream, request.headers, {
        name: field,
        maximum,
        write,
        field: (name, value) => {
          fields[name] = value;
        },
      });
      if (!received) throw badRequest(`${field} is missing`);
      filename = received.filename;
    } else {
      if (!raw) throw badRequest(`${field} is missing`);
      await receiveRaw(request.bodyStream, { maximum, write });
    }
    return await use({ ...(await draft.finish()), draft, filename, fields });
  } catch (error) {
    throw error instanceof Failure && error.kind === 'payload_too_large' ? tooLarge(error) : error;
  } finally {
    await draft.discard();
  }
}
