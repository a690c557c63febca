/** Manifests and blobs of other registries, by the proxies of groups. */
import { Readable } from 'node:stream';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { createShare, currentCaller } from '../../../platform/fair-share.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { startDigest, unseal } from '../../../platform/secret.ts';
import { placeOfProxied } from '../access/tokens.ts';
import { MAX_MANIFEST_BYTES, manifestTypes } from '../manifests/parse.ts';
import { parseDigest, proxiedImage, type Reference, upstreamName } from '../names/rules.ts';
import { keepProxiedBlob, keepProxiedManifest, notePull } from '../proxy/actions.ts';
import { createDownloads } from '../proxy/downloads.ts';
import {
  type KeptImage,
  type KeptManifest,
  selectKeptBlob,
  selectKeptManifest,
  selectProxySettings,
} from '../proxy/queries.ts';
import { isPassing } from '../proxy/rules.ts';
import {
  fetchManifest,
  headBlob,
  headManifest,
  openUpstream,
  type Upstream,
  UpstreamError,
} from '../proxy/upstream.ts';
import { RegistryError, versioned } from '../refusals/errors.ts';
import { requireDigest } from '../uploads/receive.ts';
import { storedBytes } from './blobs.ts';
import { referenceOf } from './manifests.ts';
import { challenge, type RegistryRequest, scopeOf } from './request.ts';

export type ProxyServices = Needs<'database' | 'blobs' | 'outbound' | 'secretKey' | 'log'>;

/** An image that the request's token opens, and the registry where it is. */
type Place = KeptImage & { upstream: Upstream };

type ProxyRequest = RegistryRequest & { settings: ApplicationSettings };

export type ImageProxy = {
  manifest(context: ProxyRequest, path: string, reference: string): Promise<HttpResponse>;
  blob(context: ProxyRequest, path: string, digest: string): Promise<HttpResponse>;
};

const off = (): RegistryError => new RegistryError('NAME_UNKNOWN', 'the dependency proxy is not enabled');

/** 401 unless the token grants it, 404 where the proxy is off. */
async function requirePlace(
  services: ProxyServices,
  { settings, request, token }: ProxyRequest,
  path: string,
): Promise<Place> {
  if (!settings.dependency_proxy_enabled) throw off();
  const groupId = placeOfProxied(token, path);
  if (groupId === undefined) throw challenge(request, 'insufficient_scope', scopeOf(path, 'pull'));
  const { enabled, identity, secret_sealed } = await selectProxySettings(services.database.db, groupId);
  if (!enabled) throw off();
  const image = upstreamName(proxiedImage(path)?.name ?? '', settings.dependency_proxy_upstream_url);
  const credentials =
    identity === null || secret_sealed === null
      ? undefined
      : { identity, secret: unseal(services.secretKey, secret_sealed) };
  return { groupId, image, upstream: openUpstream(services, settings, { image, credentials }) };
}

/** What the registry behind did not give, in the words of the protocol. */
function refuse(error: unknown, missing: 'MANIFEST_UNKNOWN' | 'BLOB_UNKNOWN'): never {
  if (!(error instanceof UpstreamError)) throw error;
  const codes = {
    missing,
    refused: 'DENIED',
    limited: 'TOOMANYREQUESTS',
    unreachable: 'UNAVAILABLE',
  } as const;
  throw new RegistryError(codes[error.reason], error.message, {
    headers: isPassing(error.reason) ? { 'retry-after': '60' } : {},
  });
}

/** A manifest as it is sent: kept, or where a group keeps too many already, its bytes. */
type Shown = { digest: string; mediaType: string } & ({ sha256: Buffer } | { bytes: Buffer });

const shownOf = ({ digest, media_type: mediaType, sha256 }: KeptManifest): Shown => ({
  digest,
  mediaType,
  sha256,
});

/** Undefined where the bytes are gone: with a purge at this moment, or because they were not restored with their row. */
const keptBytes = (
  context: RegistryRequest,
  kept: Parameters<typeof storedBytes>[1],
): Promise<HttpResponse | undefined> =>
  storedBytes(context, kept).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'not_found') return undefined;
    throw error;
  });

/** The bytes as a manifest of their type; UNAVAILABLE where they are none, or not what was asked for. */
function requireManifest(
  reference: Reference,
  { bytes, digest, mediaType }: Awaited<ReturnType<typeof fetchManifest>>,
): { digest: string; mediaType: string } {
  if (!manifestTypes.includes(mediaType))
    throw new UpstreamError('unreachable', 'the upstream registry sent no manifest of a type that is served');
  const wanted = 'digest' in reference ? reference.digest : digest;
  const { algorithm } = parseDigest(wanted ?? '') ?? { algorithm: 'sha256' as const };
  const computed = `${algorithm}:${startDigest(algorithm).update(bytes).digest('hex')}`;
  if (wanted !== undefined && wanted !== computed)
    throw new UpstreamError('unreachable', 'the upstream registry sent another manifest than it named');
  return { digest: computed, mediaType };
}

export function createImageProxy(services: ProxyServices): ImageProxy {
  const { database, blobs } = services;
  const { db } = database;
  const downloads = createDownloads(services);
  const share = createShare({
    of: 'requests through the dependency proxy',
    places: 24,
    perCaller: 6,
    waitingPerCaller: 64,
    waiting: 512,
    timeoutMs: 60_000,
  });
  /** Those that are being looked up, by what they are called, and for whom where a place is waited for. */
  const lookups = new Map<string, Promise<Shown>>();

  async function keepManifest(
    place: Place,
    reference: Reference,
    bytes: Buffer,
    manifest: { digest: string; mediaType: string },
  ): Promise<Shown> {
    const draft = await blobs.draft();
    try {
      await draft.write(bytes);
      const { sha256, size } = await draft.finish();
      const tag = 'tag' in reference ? reference.tag : undefined;
      const kept = await keepProxiedManifest(db, place, { ...manifest, sha256, size, keep: draft.keep, tag });
      return { ...manifest, ...(kept ? { sha256 } : { bytes }) };
    } finally {
      await draft.discard();
    }
  }

  /** As the registry behind has it now. */
  async function refreshed(
    place: Place,
    reference: Reference,
    kept: KeptManifest | undefined,
  ): Promise<Shown> {
    const { upstream } = place;
    const name = 'digest' in reference ? reference.digest : reference.tag;
    if (kept) {
      const head = await headManifest(upstream, name);
      if (head.digest === kept.digest && head.mediaType === kept.media_type) return shownOf(kept);
    }
    const fetched = await fetchManifest(upstream, name, MAX_MANIFEST_BYTES);
    return keepManifest(place, reference, fetched.bytes, requireManifest(reference, fetched));
  }

  function shared(key: string, look: () => Promise<Shown>): Promise<Shown> {
    const known = lookups.get(key);
    if (known) return known;
    const looking = look().finally(() => lookups.delete(key));
    lookups.set(key, looking);
    return looking;
  }

  /** Asks the registry behind in the caller's own share: nobody waits in another's queue for what both ask for. */
  const asked = (key: string, look: () => Promise<Shown>): Promise<Shown> =>
    shared(`${key} for ${currentCaller()}`, () => share.run(() => shared(key, look)));

  const keyOf = ({ groupId, image }: Place, reference: Reference): string =>
    `${groupId} ${image} ${'digest' in reference ? reference.digest : reference.tag}`;

  /** What is kept of a digest does not change; of a tag it is served where the registry behind says nothing else. */
  async function lookUp(place: Place, reference: Reference): Promise<Shown> {
    const kept = await selectKeptManifest(db, place, reference);
    if (kept) await notePull(db, 'dependency_proxy_manifests', kept);
    if (kept && 'digest' in reference) return shownOf(kept);
    return asked(keyOf(place, reference), () => refreshed(place, reference, kept)).catch((error: unknown) => {
      if (kept && error instanceof UpstreamError && isPassing(error.reason)) return shownOf(kept);
      return refuse(error, 'MANIFEST_UNKNOWN');
    });
  }

  /** As if nothing were kept. */
  const lookUpAnew = (place: Place, reference: Reference): Promise<Shown> =>
    asked(`${keyOf(place, reference)} anew`, () => refreshed(place, reference, undefined)).catch(
      (error: unknown) => refuse(error, 'MANIFEST_UNKNOWN'),
    );

  const keepBlob =
    (groupId: number, digest: string) =>
    (arrived: { sha256: Buffer; size: number; keep(tx: Db): Promise<void> }) =>
      keepProxiedBlob(db, groupId, { digest, ...arrived });

  const headersOf = (digest: string, length: number | undefined) => ({
    ...versioned,
    'content-type': 'application/octet-stream',
    'content-security-policy': "default-src 'none'; sandbox",
    'docker-content-digest': digest,
    ...(length !== undefined && { 'content-length': String(length) }),
  });

  return {
    async manifest(context, path, given) {
      const reference = referenceOf(given);
      const place = await requirePlace(services, context, path);
      const response = async (shown: Shown): Promise<HttpResponse | undefined> => {
        const { digest, mediaType: contentType } = shown;
        if ('sha256' in shown) return keptBytes(context, { sha256: shown.sha256, digest, contentType });
        return {
          status: 200,
          headers: { ...headersOf(digest, shown.bytes.length), 'content-type': contentType },
          body: shown.bytes,
        };
      };
      const kept = await response(await lookUp(place, reference));
      if (kept) return kept;
      const anew = await response(await lookUpAnew(place, reference));
      if (anew) return anew;
      throw new RegistryError('MANIFEST_UNKNOWN', 'the manifest was removed at this moment');
    },
    async blob(context, path, given) {
      const digest = requireDigest(given);
      const { groupId, upstream, image } = await requirePlace(services, context, path);
      const kept = await selectKeptBlob(db, groupId, digest.text);
      if (kept) {
        await notePull(db, 'dependency_proxy_blobs', kept);
        const { sha256 } = kept;
        const contentType = 'application/octet-stream';
        const stored = await keptBytes(context, { sha256, digest: digest.text, contentType });
        if (stored) return stored;
      }
      try {
        if (context.request.method === 'HEAD') {
          const length = await share.run(() => headBlob(upstream, digest.text), context.request.signal);
          return { status: 200, headers: headersOf(digest.text, length), body: Readable.from([]) };
        }
        const key = `${groupId} ${image} ${digest.text}`;
        const { length, body } = await downloads.read(
          { key, upstream, digest, keep: keepBlob(groupId, digest.text) },
          context.request.signal,
        );
        return { status: 200, headers: headersOf(digest.text, length), body };
      } catch (error) {
        return refuse(error, 'BLOB_UNKNOWN');
      }
    },
  };
}
