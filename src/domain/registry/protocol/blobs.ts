import { asResponse, replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { now } from '../../../platform/clock.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { placeIn } from '../access/tokens.ts';
import { keepRepository, mountBlob, renewLink, unlinkBlob } from '../images/actions.ts';
import { selectBlob, selectRepository } from '../images/queries.ts';
import { arrivedRange, chunkRange, parseDigest } from '../names/rules.ts';
import { RegistryError, versioned } from '../refusals/errors.ts';
import { beginUpload, removeUpload } from '../uploads/actions.ts';
import { selectUpload, type UploadRow } from '../uploads/queries.ts';
import {
  discardChunks,
  finishUpload,
  hasBody,
  receiveChunk,
  receiveWhole,
  requireDigest,
} from '../uploads/receive.ts';
import { type RegistryRequest, requireDelete, requirePush, requireRepository } from './request.ts';

const HOUR_MS = 3_600_000;

/** The stored bytes as a response: whole, a range of them, or what the client has. */
export async function storedBytes(
  { services, request }: RegistryRequest,
  { sha256, digest, contentType }: { sha256: Buffer; digest: string; contentType: string },
): Promise<HttpResponse> {
  const response = asResponse(await replyWithBlob(services, request, { sha256, contentType }));
  return { ...response, headers: { ...versioned, ...response.headers, 'docker-content-digest': digest } };
}

export async function getBlob(context: RegistryRequest, path: string, given: string): Promise<HttpResponse> {
  const { text: digest } = requireDigest(given);
  const { db } = context.services.database;
  const repositoryId = await requireRepository(context, path, 'pull');
  const blob = await selectBlob(db, repositoryId, digest);
  if (!blob) throw new RegistryError('BLOB_UNKNOWN', 'this repository has no such blob');
  if (context.request.method === 'HEAD' && now().getTime() - blob.linked_at.getTime() > HOUR_MS)
    await renewLink(db, repositoryId, digest);
  return storedBytes(context, { ...blob, digest, contentType: 'application/octet-stream' });
}

export async function deleteBlob(
  context: RegistryRequest,
  path: string,
  given: string,
): Promise<HttpResponse> {
  const { text: digest } = requireDigest(given);
  const { database, blobs } = context.services;
  const { repositoryId } = await requireDelete(context, path);
  await blobs.release([await unlinkBlob(database.db, repositoryId, digest)]);
  return { status: 202, headers: { ...versioned }, body: '' };
}

const addressOf = ({ request }: RegistryRequest, path: string, rest: string): string =>
  `${request.origin}/v2/${path}/${rest}`;

const stored = (context: RegistryRequest, path: string, digest: string): HttpResponse => ({
  status: 201,
  headers: {
    ...versioned,
    location: addressOf(context, path, `blobs/${digest}`),
    'docker-content-digest': digest,
  },
  body: '',
});

const arriving = (
  context: RegistryRequest,
  path: string,
  { id, size }: Pick<UploadRow, 'id' | 'size'>,
  status: number,
): HttpResponse => ({
  status,
  headers: {
    ...versioned,
    location: addressOf(context, path, `blobs/uploads/${id}`),
    range: arrivedRange(size),
    'docker-upload-uuid': id,
  },
  body: '',
});

/** Whether the blob came from the image that the query names; a program that may not pull that one uploads it instead. */
async function mounted(context: RegistryRequest, repositoryId: number): Promise<string | undefined> {
  const { query, token, services } = context;
  const digest = query.get('mount');
  const from = placeIn(token, query.get('from') ?? '', 'pull');
  if (digest === null || !parseDigest(digest) || !from) return undefined;
  const { db } = services.database;
  const source = await selectRepository(db, from);
  if (source === undefined) return undefined;
  return (await mountBlob(db, repositoryId, { from: source, digest })) ? digest : undefined;
}

export async function beginBlob(context: RegistryRequest, path: string): Promise<HttpResponse> {
  const { services, request, query, token } = context;
  const { db } = services.database;
  const { place } = await requirePush(context, path);
  const whole = query.get('digest');
  const digest = whole === null ? undefined : requireDigest(whole);
  const repositoryId = await keepRepository(db, place);
  if (digest && hasBody(request)) {
    await receiveWhole(services, repositoryId, digest, request.bodyStream);
    return stored(context, path, digest.text);
  }
  const mount = query.has('mount') ? await mounted(context, repositoryId) : undefined;
  if (mount !== undefined) return stored(context, path, mount);
  const id = await beginUpload(db, repositoryId, token.holder.key);
  return arriving(context, path, { id, size: 0 }, 202);
}

async function requireUpload(context: RegistryRequest, path: string, id: string): Promise<UploadRow> {
  const repositoryId = await requireRepository(context, path, 'push');
  const { services, token } = context;
  const upload = await selectUpload(services.database.db, {
    id,
    repositoryId,
    startedBy: token.holder.key,
  });
  if (!upload) throw new RegistryError('BLOB_UPLOAD_UNKNOWN', 'there is no such upload, or it is over');
  return upload;
}

export const showUpload = async (context: RegistryRequest, path: string, id: string): Promise<HttpResponse> =>
  arriving(context, path, await requireUpload(context, path, id), 204);

function outOfOrder(context: RegistryRequest, path: string, upload: UploadRow): RegistryError {
  const { headers } = arriving(context, path, upload, 416);
  return new RegistryError('RANGE_INVALID', `the next chunk begins at ${upload.size}`, { headers });
}

/** The bytes that the chunk says to have; 416 unless it begins where the upload ends. */
function requireNext(context: RegistryRequest, path: string, upload: UploadRow): number | undefined {
  const range = chunkRange(context.request.headers['content-range']?.toString());
  if (range === undefined) return undefined;
  if (range === 'invalid' || range.start !== upload.size) throw outOfOrder(context, path, upload);
  return range.end - range.start + 1;
}

export async function appendToUpload(
  context: RegistryRequest,
  path: string,
  id: string,
): Promise<HttpResponse> {
  const upload = await requireUpload(context, path, id);
  const length = requireNext(context, path, upload);
  const { services, request } = context;
  const size = await receiveChunk(services, upload, request.bodyStream, length);
  if (size === undefined) throw outOfOrder(context, path, await requireUpload(context, path, id));
  return arriving(context, path, { id, size }, 202);
}

export async function endUpload(context: RegistryRequest, path: string, id: string): Promise<HttpResponse> {
  const { services, request, query } = context;
  const upload = await requireUpload(context, path, id);
  const digest = requireDigest(query.get('digest'));
  const body = hasBody(request) ? request.bodyStream : undefined;
  if (body) requireNext(context, path, upload);
  await finishUpload(services, upload, digest, body);
  return stored(context, path, digest.text);
}

export async function cancelUpload(
  context: RegistryRequest,
  path: string,
  id: string,
): Promise<HttpResponse> {
  const { database, blobs } = context.services;
  const upload = await requireUpload(context, path, id);
  await discardChunks(blobs, await removeUpload(database.db, upload.id));
  return { status: 204, headers: { ...versioned }, body: '' };
}
