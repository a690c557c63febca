/** Takes the file that a package program sends: as the body, as a field of a form, or as an attachment in JSON. */
import type { Needs } from '../../../kernel/services.ts';
import type { Draft, Received } from '../../../platform/blobs/blobs.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import { receiveFile } from '../../../platform/http/bodies/multipart-file.ts';
import { receiveRaw } from '../../../platform/http/bodies/raw-file.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { JsonMeter } from '../../../platform/http/parameters/json-meter.ts';
import {
  decodeUtf8,
  parseJsonBody,
  type RawObject,
} from '../../../platform/http/parameters/raw-parameters.ts';
import type { DigestAlgorithm } from '../../../platform/secret.ts';
import { maximumBytes, type PackageType } from '../records/types.ts';
import { AttachmentScanner } from './attachment-scanner.ts';

/** A file that has come. */
export type Arrived = Received & { draft: Draft };

export type Upload = Arrived & {
  /** As the form names it. */
  filename: string | undefined;
  /** The others that were asked for. */
  fields: Readonly<Record<string, string>>;
};

type Context = { services: Needs<'blobs' | 'instance'>; request: HttpRequest };

const largest = async ({ services }: Context, type: PackageType): Promise<number> =>
  maximumBytes((await services.instance.read()).limits, type);

const tooLarge = (cause?: unknown): Failure =>
  new Failure('bad_request', '400 Bad request - File is too large', { cause });

const isForm = ({ headers }: HttpRequest): boolean =>
  /^multipart\/form-data\b/i.test(String(headers['content-type'] ?? ''));

/**
 * `arrive` writes the file into a draft, and `use` gets it with what else has come. It is gone afterwards unless `use` has
 * published it. 400 for a body that is announced as longer than the longest, and for a file that is too large.
 */
async function receiving<Others, T>(
  { services, request }: Context,
  { longest, digests }: { longest: number; digests: readonly DigestAlgorithm[] },
  arrive: (draft: Draft) => Promise<Others>,
  use: (upload: Arrived & Others) => Promise<T>,
): Promise<T> {
  if (Number(request.headers['content-length'] ?? 0) > longest) {
    request.bodyStream.resume();
    throw tooLarge();
  }
  const draft = await services.blobs.draft(digests);
  try {
    const others = await arrive(draft);
    return await use({ ...(await draft.finish()), draft, ...others });
  } catch (error) {
    throw error instanceof Failure && error.kind === 'payload_too_large' ? tooLarge(error) : error;
  } finally {
    await draft.discard();
  }
}

/** Of a form: programs send each line of what they know of a package as one. */
const MAX_PARTS = 10_000;
/** What is around a file in its body. */
const MAX_AROUND_BYTES = 1_048_576;

/**
 * Calls `use` with what has come: the field of a form, with those of the others that are there, or else the body, where `raw`
 * allows that. 400 for a form without it.
 */
export async function withUpload<T>(
  context: Context,
  type: PackageType,
  { field, raw = true, others = [] }: { field?: string; raw?: boolean; others?: readonly string[] },
  use: (upload: Upload) => Promise<T>,
): Promise<T> {
  const { request } = context;
  const maximum = await largest(context, type);
  const bounds = { longest: maximum + MAX_AROUND_BYTES, digests: ['md5', 'sha1'] as const };
  return receiving(
    context,
    bounds,
    async (draft) => {
      const fields: Record<string, string> = {};
      const write = (piece: Buffer) => draft.write(piece);
      if (field === undefined || !isForm(request)) {
        if (!raw) throw badRequest(`${field} is missing`);
        await receiveRaw(request.bodyStream, { maximum, write });
        return { filename: undefined, fields };
      }
      const received = await receiveFile(request.bodyStream, request.headers, {
        name: field,
        maximum,
        write,
        parts: MAX_PARTS,
        field: (name, value) => {
          if (others.includes(name)) fields[name] = value;
        },
      });
      if (!received) throw badRequest(`${field} is missing`);
      return { filename: received.filename, fields };
    },
    use,
  );
}

/** The bytes of JSON without its attachment. */
const MAX_JSON_BYTES = 2_097_152;

/** Collects JSON up to its bounds. */
function jsonCollector(): { push(piece: Buffer): void; text(): string } {
  const meter = new JsonMeter();
  const pieces: Buffer[] = [];
  let length = 0;
  return {
    push(piece) {
      length += piece.length;
      if (length > MAX_JSON_BYTES) throw badRequest(`the JSON is longer than ${MAX_JSON_BYTES} bytes`);
      meter.push(piece);
      pieces.push(piece);
    },
    text: () => decodeUtf8(Buffer.concat(pieces)),
  };
}

/** The text of a body that is JSON without a file; 400 for one that is longer than 2 MiB. */
export async function receiveText(request: HttpRequest): Promise<string> {
  const json = jsonCollector();
  await receiveRaw(request.bodyStream, { maximum: MAX_JSON_BYTES, write: async (piece) => json.push(piece) });
  return json.text();
}

export type Attachment = Arrived & {
  /** What has come around it, with an empty text in its place. */
  json: RawObject;
};

/**
 * Calls `use` with the attachment whose name ends so, as base64 at `_attachments.<name>.data`; it is empty where there is none.
 * 400 as for other JSON, for several such attachments and for what is no base64.
 */
export async function withAttachment<T>(
  context: Context,
  type: PackageType,
  ending: string,
  use: (attachment: Attachment) => Promise<T>,
): Promise<T> {
  const maximum = await largest(context, type);
  const longest = Math.ceil(maximum / 3) * 4 + MAX_JSON_BYTES;
  return receiving(
    context,
    { longest, digests: ['md5', 'sha1', 'sha512'] },
    async (draft) => {
      const scanner = new AttachmentScanner(ending);
      const json = jsonCollector();
      let size = 0;
      const write = async (piece: Buffer) => {
        const scanned = scanner.push(piece);
        json.push(scanned.json);
        size += scanned.data.length;
        if (size > maximum) throw tooLarge();
        if (scanned.data.length > 0) await draft.write(scanned.data);
      };
      await receiveRaw(context.request.bodyStream, { maximum: longest, write });
      return { json: parseJsonBody(json.text()) };
    },
    use,
  );
}
