/** `/v2/`: the registry as its programs speak to it (OCI Distribution 1.1). */
import { admit } from '../../../kernel/api/gate.ts';
import { readAuthorization } from '../../../kernel/identity/credentials.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { nameCaller } from '../../../platform/fair-share.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../platform/http/messages.ts';
import type { Method, Route } from '../../../platform/http/server/server.ts';
import { mayListAll, type RegistryToken, readRegistryToken } from '../access/tokens.ts';
import { selectCatalog } from '../images/queries.ts';
import { type Action, proxiedImage } from '../names/rules.ts';
import { RegistryError, refusalOf, versioned } from '../refusals/errors.ts';
import { type Address, parseAddress } from './address.ts';
import {
  appendToUpload,
  beginBlob,
  cancelUpload,
  deleteBlob,
  endUpload,
  getBlob,
  showUpload,
} from './blobs.ts';
import {
  getManifest,
  lastIn,
  linkTo,
  listReferrers,
  listTags,
  putManifest,
  removeManifest,
  requirePageSize,
} from './manifests.ts';
import { createImageProxy, type ImageProxy, type ProxyServices } from './proxied.ts';
import { challenge, type RegistryRequest, scopeOf } from './request.ts';

export type ProtocolServices = ProxyServices & Needs<'settings' | 'limiter' | 'disk'>;

type Kind = Address['of'];
type Work = (context: RegistryRequest, address: Address) => Promise<HttpResponse>;

/** What each method does at each kind of address. */
const works: {
  [K in Kind]: Partial<
    Record<Method, (context: RegistryRequest, at: Extract<Address, { of: K }>) => Promise<HttpResponse>>
  >;
} = {
  base: { GET: async () => json(200, {}, versioned) },
  catalog: { GET: (context) => listAll(context) },
  blob: {
    GET: (context, { path, digest }) => getBlob(context, path, digest),
    DELETE: (context, { path, digest }) => deleteBlob(context, path, digest),
  },
  uploads: { POST: (context, { path }) => beginBlob(context, path) },
  upload: {
    GET: (context, { path, id }) => showUpload(context, path, id),
    PATCH: (context, { path, id }) => appendToUpload(context, path, id),
    PUT: (context, { path, id }) => endUpload(context, path, id),
    DELETE: (context, { path, id }) => cancelUpload(context, path, id),
  },
  manifest: {
    GET: (context, { path, reference }) => getManifest(context, path, reference),
    PUT: (context, { path, reference }) => putManifest(context, path, reference),
    DELETE: (context, { path, reference }) => removeManifest(context, path, reference),
  },
  tags: { GET: (context, { path }) => listTags(context, path) },
  referrers: { GET: (context, { path, digest }) => listReferrers(context, path, digest) },
};

async function listAll({ services, request, query, token }: RegistryRequest): Promise<HttpResponse> {
  if (!mayListAll(token)) throw challenge(request, 'insufficient_scope', 'registry:catalog:*');
  const size = requirePageSize(query);
  const found = size === 0 ? [] : await selectCatalog(services.database.db, lastIn(query), size + 1);
  const repositories = found.slice(0, size);
  const next =
    found.length > size ? linkTo('/v2/_catalog', { n: size, last: repositories.at(-1) ?? '' }) : {};
  return json(200, { repositories }, { ...versioned, ...next });
}

/** Images of other registries are pulled, and nothing else. */
function proxiedWork(
  proxy: ImageProxy,
  settings: ApplicationSettings,
  method: Method,
  address: Address,
): ((context: RegistryRequest) => Promise<HttpResponse>) | undefined {
  if (method !== 'GET') return undefined;
  if (address.of === 'manifest')
    return (context) => proxy.manifest({ ...context, settings }, address.path, address.reference);
  if (address.of === 'blob')
    return (context) => proxy.blob({ ...context, settings }, address.path, address.digest);
  return undefined;
}

/** The address; undefined for one that the protocol does not have. 400 for the name of an image that cannot be. */
function addressOf({ path }: HttpRequest): Address | undefined {
  const rest = path.replace(/^\/v2\/?/, '');
  let decoded: string;
  try {
    decoded = decodeURIComponent(rest);
  } catch {
    return undefined;
  }
  const address = parseAddress(decoded);
  if (address === 'invalid_name') throw new RegistryError('NAME_INVALID', 'no image can have this name');
  return address;
}

const methodOf = ({ method }: HttpRequest): Method => (method === 'HEAD' ? 'GET' : method) as Method; // the routes have no others

const actionOf = (method: Method): Action =>
  method === 'GET' ? 'pull' : method === 'DELETE' ? 'delete' : 'push';

/** The request's token; a refusal for another one, and undefined without any. */
async function tokenOf(services: ProtocolServices, request: HttpRequest): Promise<RegistryToken | undefined> {
  const given = readAuthorization(request.headers.authorization?.toString());
  if (!given) return undefined;
  const token = await readRegistryToken(services, given.password);
  if (!token) throw challenge(request, 'invalid_token');
  return token;
}

async function serve(
  services: ProtocolServices,
  proxy: ImageProxy,
  request: HttpRequest,
): Promise<HttpResponse> {
  const settings = await services.settings.read();
  const method = methodOf(request);
  let wrong: unknown;
  const token = await tokenOf(services, request).catch((error: unknown) => {
    if (!(error instanceof RegistryError)) throw error;
    wrong = error;
    return undefined;
  });
  const account = token?.holder.key || undefined;
  const writes = method !== 'GET';
  const refused = await admit(services, request, settings, { kind: 'registry', account, wrong, writes });
  if (refused) return refused;
  if (account !== undefined) nameCaller(account);
  const address = addressOf(request);
  if (!token) {
    const path = address && 'path' in address ? address.path : undefined;
    throw challenge(request, undefined, path && scopeOf(path, actionOf(method)));
  }
  const isProxied = address && 'path' in address && proxiedImage(address.path) !== undefined;
  const work = isProxied
    ? proxiedWork(proxy, settings, method, address)
    : address && (works[address.of][method] as Work | undefined);
  if (!address) throw new RegistryError('UNSUPPORTED', 'the protocol has no such address', { status: 404 });
  if (!work) throw new RegistryError('UNSUPPORTED', 'this address has no such method');
  const query = new URLSearchParams(request.query);
  const response = await work({ services, request, query, token }, address);
  return { ...response, actor: token.holder.username };
}

export function registryRoutes(services: ProtocolServices): Route[] {
  const proxy = createImageProxy(services);
  const handle = (request: HttpRequest): Promise<HttpResponse> =>
    serve(services, proxy, request).catch((error: unknown) => {
      const refusal = refusalOf(error);
      // Many clients read no response before they have sent all.
      if (!request.bodyStream.destroyed) request.bodyStream.resume();
      if (refusal) return refusal;
      throw error;
    });
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
  return [
    { kind: 'registry', method: 'GET', path: '/v2', handle },
    ...methods.map((method): Route => ({ kind: 'registry', method, path: '/v2/*', handle })),
  ];
}
