/** Manifests and tags of an image. */
import { inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { reserveBody } from '../../../platform/http/bodies/body.ts';
import { wholeBody } from '../../../platform/http/bodies/body-stream.ts';
import { type HttpResponse, json } from '../../../platform/http/messages.ts';
import { startDigest } from '../../../platform/secret.ts';
import {
  deleteManifest,
  deleteTag,
  holdRepository,
  keepManifest,
  keepRepository,
} from '../images/actions.ts';
import { type ReferrerRow, selectManifest, selectReferrers, selectTags } from '../images/queries.ts';
import {
  BadManifest,
  MAX_MANIFEST_BYTES,
  type Manifest,
  OCI_INDEX,
  parseManifest,
} from '../manifests/parse.ts';
import { isTag, pageSize, parseDigest, type Reference } from '../names/rules.ts';
import { requireManifestDelete, requireTagDelete, requireTagPush } from '../protection/refusals.ts';
import { RegistryError, versioned } from '../refusals/errors.ts';
import { requireDigest } from '../uploads/receive.ts';
import { storedBytes } from './blobs.ts';
import { type RegistryRequest, requireDelete, requirePush, requireRepository } from './request.ts';

/** A digest has a colon, which no tag has. */
export function referenceOf(text: string): Reference {
  if (text.includes(':')) return { digest: requireDigest(text).text };
  if (!isTag(text)) throw new RegistryError('TAG_INVALID', 'this cannot be the name of a tag');
  return { tag: text };
}

export async function getManifest(
  context: RegistryRequest,
  path: string,
  given: string,
): Promise<HttpResponse> {
  const reference = referenceOf(given);
  const repositoryId = await requireRepository(context, path, 'pull');
  const manifest = await selectManifest(context.services.database.db, repositoryId, reference);
  if (!manifest) throw new RegistryError('MANIFEST_UNKNOWN', 'this repository has no such manifest or tag');
  const { sha256, digest, media_type: contentType } = manifest;
  return storedBytes(context, { sha256, digest, contentType });
}

async function readManifest({ request }: RegistryRequest): Promise<Buffer> {
  const tooLarge = (): RegistryError =>
    new RegistryError('MANIFEST_INVALID', `a manifest has ${MAX_MANIFEST_BYTES} bytes at most`, {
      status: 413,
    });
  try {
    if (Number(request.headers['content-length'] ?? 0) > MAX_MANIFEST_BYTES) throw tooLarge();
    await reserveBody(request);
    return await wholeBody(request.bodyStream, MAX_MANIFEST_BYTES);
  } catch (error) {
    // Many clients read no response before they have sent all.
    request.bodyStream.resume();
    throw error instanceof Failure && error.kind === 'payload_too_large' ? tooLarge() : error;
  }
}

function parse(bytes: Buffer, contentType: string | undefined): Manifest {
  try {
    return parseManifest(bytes, contentType);
  } catch (error) {
    if (error instanceof BadManifest)
      throw new RegistryError('MANIFEST_INVALID', `the manifest is not valid: ${error.message}`);
    throw error;
  }
}

/** Its canonical digest is by SHA-256, unless its client names it by another one. */
function digestOf(bytes: Buffer, reference: Reference): string {
  const { algorithm } = ('digest' in reference ? parseDigest(reference.digest) : undefined) ?? {
    algorithm: 'sha256' as const,
  };
  const digest = `${algorithm}:${startDigest(algorithm).update(bytes).digest('hex')}`;
  if ('digest' in reference && reference.digest !== digest)
    throw new RegistryError('DIGEST_INVALID', 'the manifest has another digest than the one that was given');
  return digest;
}

const MAX_TAGS_OF_PUSH = 100;

/** Tags that a push by digest names in its query, too. */
function tagsOf(query: URLSearchParams, reference: Reference): string[] {
  if ('tag' in reference) return [reference.tag];
  const tags = [...new Set(query.getAll('tag'))];
  if (tags.length > MAX_TAGS_OF_PUSH || !tags.every(isTag))
    throw new RegistryError('TAG_INVALID', `not valid names of at most ${MAX_TAGS_OF_PUSH} tags`);
  return tags;
}

export async function putManifest(
  context: RegistryRequest,
  path: string,
  given: string,
): Promise<HttpResponse> {
  const { services, request, query } = context;
  const { database, blobs } = services;
  const reference = referenceOf(given);
  const tags = tagsOf(query, reference);
  await requireTagPush((await requirePush(context, path)).guard, tags);
  const bytes = await readManifest(context);
  const manifest = parse(bytes, request.headers['content-type']?.toString());
  const digest = digestOf(bytes, reference);
  const draft = await blobs.draft();
  try {
    await draft.write(bytes);
    const { sha256, size } = await draft.finish();
    // Once more: the body may have come slowly, and rules may have been made meanwhile.
    const { place, guard } = await requirePush(context, path);
    const immutable = await requireTagPush(guard, tags);
    const repositoryId = await keepRepository(database.db, place);
    await inTransaction(database.db, async (tx) => {
      await holdRepository(tx, repositoryId);
      await draft.keep(tx);
      await keepManifest(tx, repositoryId, { digest, sha256, size, manifest, tags, immutable });
    });
  } finally {
    await draft.discard();
  }
  return {
    status: 201,
    headers: {
      ...versioned,
      location: `${request.origin}/v2/${path}/manifests/${digest}`,
      'docker-content-digest': digest,
      ...(manifest.subject !== null && { 'oci-subject': manifest.subject }),
      ...(query.has('tag') && tags.length > 0 && { 'oci-tag': tags.join(', ') }),
    },
    body: '',
  };
}

export async function removeManifest(
  context: RegistryRequest,
  path: string,
  given: string,
): Promise<HttpResponse> {
  const reference = referenceOf(given);
  const { database, blobs } = context.services;
  const { repositoryId, rules, guard } = await requireDelete(context, path);
  if ('tag' in reference) {
    requireTagDelete(guard, reference.tag);
    if (!(await deleteTag(database.db, repositoryId, reference.tag)))
      throw new RegistryError('MANIFEST_UNKNOWN', 'this repository has no such tag');
  } else {
    requireManifestDelete(rules);
    await blobs.release([await deleteManifest(database.db, repositoryId, reference.digest, guard)]);
  }
  return { status: 202, headers: { ...versioned }, body: '' };
}

/** `n`, as the number of entries; 400 for what is none. */
export function requirePageSize(query: URLSearchParams): number {
  const size = pageSize(query.get('n'));
  if (size === undefined) throw new RegistryError('PAGINATION_NUMBER_INVALID', 'n is no number of entries');
  return size;
}

/** `last`, where a page begins; no name has a zero byte. */
export const lastIn = (query: URLSearchParams): string => (query.get('last') ?? '').replaceAll('\0', '');

/** The header that leads to the next page. */
export function linkTo(address: string, parameters: Record<string, string | number>): { link: string } {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  return { link: `<${address}?${query}>; rel="next"` };
}

export async function listTags(context: RegistryRequest, path: string): Promise<HttpResponse> {
  const { services, query } = context;
  const repositoryId = await requireRepository(context, path, 'pull');
  const size = requirePageSize(query);
  const { db } = services.database;
  const found = size === 0 ? [] : await selectTags(db, repositoryId, lastIn(query), size + 1);
  const tags = found.slice(0, size);
  const next =
    found.length > size ? linkTo(`/v2/${path}/tags/list`, { n: size, last: tags.at(-1) ?? '' }) : {};
  return json(200, { name: path, tags }, { ...versioned, ...next });
}

const REFERRERS_PAGE = 100;

/** As an index lists it. */
const descriptorOf = (row: ReferrerRow): object => ({
  mediaType: row.media_type,
  digest: row.digest,
  size: row.size,
  ...(row.artifact_type !== null && { artifactType: row.artifact_type }),
  ...(row.annotations !== null && { annotations: row.annotations }),
});

export async function listReferrers(
  context: RegistryRequest,
  path: string,
  given: string,
): Promise<HttpResponse> {
  const { services, query } = context;
  const { text: digest } = requireDigest(given);
  const repositoryId = await requireRepository(context, path, 'pull').catch((error: unknown) => {
    // There is always a list, even of what is not there yet.
    if (error instanceof RegistryError && error.code === 'NAME_UNKNOWN') return 0;
    throw error;
  });
  const artifactType = query.get('artifactType')?.replaceAll('\0', '') || undefined;
  const last = Number(/^\d{1,15}$/.exec(query.get('last') ?? '')?.[0] ?? 0);
  const found = await selectReferrers(services.database.db, repositoryId, digest, {
    last,
    limit: REFERRERS_PAGE + 1,
    artifactType,
  });
  const rows = found.slice(0, REFERRERS_PAGE);
  const filter = artifactType === undefined ? {} : { artifactType };
  const end = found.length > REFERRERS_PAGE ? rows.at(-1) : undefined;
  const next = end && linkTo(`/v2/${path}/referrers/${digest}`, { ...filter, last: end.id });
  const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: rows.map(descriptorOf) };
  return json(200, index, {
    ...versioned,
    'content-type': OCI_INDEX,
    ...(artifactType !== undefined && { 'oci-filters-applied': 'artifactType' }),
    ...next,
  });
}
