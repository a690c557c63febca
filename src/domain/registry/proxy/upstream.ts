/** The registry behind the dependency proxy, as any of its clients sees it: with its tokens, and by the rules for outgoing calls. */
import { type Fetch, outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { version } from '../../../package.ts';
import { Failure } from '../../../platform/failure.ts';
import { OutboundFailure, type OutboundReply } from '../../../platform/outbound/outbound.ts';
import { manifestTypes } from '../manifests/parse.ts';
import { RegistryError } from '../refusals/errors.ts';
import { readChallenge, reasonOf, tokenAddress, type UpstreamReason } from './rules.ts';

/** An image there, and with whose credentials it is asked for; nobody's are tokens for everybody. */
export type Upstream = {
  fetch: Fetch;
  /** Without a slash at the end. */
  url: string;
  image: string;
  credentials: { identity: string; secret: string } | undefined;
  /** What it asked for before, for what is asked next. */
  authorization?: string;
};

export class UpstreamError extends Error {
  readonly reason: UpstreamReason;
  constructor(reason: UpstreamReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

export const openUpstream = (
  services: Needs<'outbound'>,
  settings: ApplicationSettings,
  image: Pick<Upstream, 'image' | 'credentials'>,
): Upstream => ({
  ...image,
  fetch: outboundFetch(services, settings),
  url: settings.dependency_proxy_upstream_url.replace(/\/+$/, ''),
});

/** For a whole answer, or for the next piece of one. */
const TIMEOUT_MS = 30_000;
const MAX_TOKEN_BYTES = 65_536;

type Asked = Pick<Parameters<Fetch>[1], 'method' | 'maximumBytes' | 'signal' | 'receive' | 'cutAnswer'>;

/** What came to nothing as an UpstreamError; the program's own failures are those of who asks. */
async function send(
  { fetch }: Upstream,
  url: string,
  request: Asked & { headers: Record<string, string> },
): Promise<OutboundReply> {
  try {
    const headers = { 'user-agent': `Ashlar/${version.own}`, ...request.headers };
    return await fetch(url, { ...request, headers, timeoutMilliseconds: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    const { cause } = error;
    if ([Failure, RegistryError, UpstreamError].some((own) => cause instanceof own)) throw cause;
    throw new UpstreamError('unreachable', `the upstream registry gives no answer: ${error.message}`, error);
  }
}

const basic = ({ identity, secret }: NonNullable<Upstream['credentials']>): string =>
  `Basic ${Buffer.from(`${identity}:${secret}`).toString('base64')}`;

function tokenIn(body: Buffer): string | undefined {
  try {
    const { token, access_token } = JSON.parse(body.toString()) as Record<string, unknown>;
    const text = token ?? access_token;
    return typeof text === 'string' && /^[!-~]+$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

async function authorize(upstream: Upstream, refused: OutboundReply): Promise<string> {
  const { credentials, url, image } = upstream;
  const challenge = readChallenge(refused.headers['www-authenticate']);
  const nothing = () => new UpstreamError('missing', 'the upstream registry does not show this image');
  if (challenge?.scheme === 'basic' && credentials) return basic(credentials);
  if (challenge?.scheme !== 'bearer') throw nothing();
  const address = tokenAddress(challenge, url, image);
  if (address === undefined)
    throw new UpstreamError('unreachable', 'the upstream registry leads to no service for its tokens');
  const { status, body } = await send(upstream, address, {
    maximumBytes: MAX_TOKEN_BYTES,
    headers: { accept: 'application/json', ...(credentials && { authorization: basic(credentials) }) },
  });
  if (status === 401 && credentials)
    throw new UpstreamError('refused', 'the upstream registry refuses the credentials of this group');
  const token = status === 200 ? tokenIn(body) : undefined;
  if (token !== undefined) return `Bearer ${token}`;
  const reason = status === 200 ? 'unreachable' : reasonOf(status);
  throw reason === 'missing'
    ? nothing()
    : new UpstreamError(reason, 'the upstream registry gives no token for this image');
}

/** The answer of status 200; otherwise an UpstreamError. */
async function ask(upstream: Upstream, path: string, request: Asked): Promise<OutboundReply> {
  const url = `${upstream.url}/v2/${upstream.image}/${path}`;
  const accept = path.startsWith('manifests/') ? manifestTypes.join(', ') : '*/*';
  const sendTo = () => {
    const { authorization } = upstream;
    return send(upstream, url, { ...request, headers: { accept, ...(authorization && { authorization }) } });
  };
  let reply = await sendTo();
  // Where a redirect leads, nobody learns the credentials by asking for them.
  if (reply.status === 401 && reply.origin === new URL(url).origin) {
    upstream.authorization = await authorize(upstream, reply);
    reply = await sendTo();
  }
  if (reply.status === 200) return reply;
  const reason = reasonOf(reply.status);
  const texts = {
    limited: 'the upstream registry limits how much is pulled from it: try again later',
    missing: 'the upstream registry has no such image, or does not show it',
    unreachable: `the upstream registry answers with status ${reply.status}`,
  };
  throw new UpstreamError(reason, texts[reason as keyof typeof texts]);
}

type Headers = OutboundReply['headers'];

const headerOf = (headers: Headers, name: string): string | undefined => [headers[name] ?? []].flat()[0];

/** As far as its headers say. */
export type ManifestHead = { digest: string | undefined; mediaType: string };

const manifestHeadOf = (headers: Headers): ManifestHead => ({
  digest: headerOf(headers, 'docker-content-digest'),
  mediaType: headerOf(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '',
});

export const headManifest = async (upstream: Upstream, reference: string): Promise<ManifestHead> =>
  manifestHeadOf(
    (await ask(upstream, `manifests/${reference}`, { method: 'HEAD', maximumBytes: 0, cutAnswer: true }))
      .headers,
  );

export async function fetchManifest(
  upstream: Upstream,
  reference: string,
  maximumBytes: number,
): Promise<ManifestHead & { bytes: Buffer }> {
  const { headers, body } = await ask(upstream, `manifests/${reference}`, { maximumBytes });
  return { ...manifestHeadOf(headers), bytes: body };
}

/** The length of what arrives; undefined where the registry does not say it. */
export function lengthOf(headers: Headers): number | undefined {
  const text = headerOf(headers, 'content-length');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export const headBlob = async (upstream: Upstream, digest: string): Promise<number | undefined> =>
  lengthOf(
    (await ask(upstream, `blobs/${digest}`, { method: 'HEAD', maximumBytes: 0, cutAnswer: true })).headers,
  );

/** Hands the blob to `receive` as it arrives. */
export async function fetchBlob(
  upstream: Upstream,
  digest: string,
  request: Required<Pick<Asked, 'maximumBytes' | 'signal' | 'receive'>>,
): Promise<void> {
  await ask(upstream, `blobs/${digest}`, request);
}
