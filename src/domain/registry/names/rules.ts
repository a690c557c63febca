/** Names of the registry: images, tags, digests, scopes of tokens, places of chunks (OCI Distribution 1.1). Pure. */

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const PATH = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`);
const MAX_PATH_LENGTH = 255;
const MAX_SEGMENTS = 19;

/** Whether the path can name an image: a project's path, and at most what is below it. */
export function isImagePath(path: string): boolean {
  if (path.length > MAX_PATH_LENGTH || !PATH.test(path)) return false;
  const segments = path.split('/').length;
  return segments >= 2 && segments <= MAX_SEGMENTS;
}

/** A project's path that an image may be below, and the image's name there; empty for the project's own. */
export type Candidate = { projectPath: string; name: string };

const MOST_BELOW = 2;

/** The projects that an image of this path may belong to, the longest path first. */
export function projectCandidates(path: string): Candidate[] {
  const segments = path.split('/');
  const candidates: Candidate[] = [];
  for (let below = 0; below <= MOST_BELOW && segments.length - below >= 2; below += 1) {
    const end = segments.length - below;
    candidates.push({ projectPath: segments.slice(0, end).join('/'), name: segments.slice(end).join('/') });
  }
  return candidates;
}

/** Between the path of a group and the name of an image. */
const INFIX = '/dependency_proxy/containers/';

export type ProxiedImage = { groupPath: string; name: string };

/** The image behind the proxy of a group that the path of an image names; undefined for an image of a project. */
export function proxiedImage(path: string): ProxiedImage | undefined {
  const at = path.indexOf(INFIX);
  return at < 1 ? undefined : { groupPath: path.slice(0, at), name: path.slice(at + INFIX.length) };
}

const DOCKER_HUB = 'registry-1.docker.io';

/** An image as the registry behind names it: those of one segment are the official ones of Docker Hub, and elsewhere themselves. */
export const upstreamName = (name: string, upstream: string): string =>
  URL.parse(upstream)?.hostname === DOCKER_HUB && !name.includes('/') ? `library/${name}` : name;

export const isTag = (text: string): boolean => /^\w[\w.-]{0,127}$/.test(text);

export type Digest = { algorithm: 'sha256' | 'sha512'; bytes: Buffer };

/** Undefined for what is no digest of an algorithm that is served. */
export function parseDigest(text: string): Digest | undefined {
  const [, algorithm, hex = ''] = /^(sha256|sha512):([0-9a-f]+)$/.exec(text) ?? [];
  if (algorithm === 'sha256' && hex.length === 64) return { algorithm, bytes: Buffer.from(hex, 'hex') };
  if (algorithm === 'sha512' && hex.length === 128) return { algorithm, bytes: Buffer.from(hex, 'hex') };
  return undefined;
}

/** What a manifest is asked for by. */
export type Reference = { digest: string } | { tag: string };

export const sha256Digest = (sha256: Buffer): string => `sha256:${sha256.toString('hex')}`;

export const actionNames = ['pull', 'push', 'delete', '*'] as const;
export type Action = (typeof actionNames)[number];

/** What a token is asked for: actions on an image, or the list of all images. */
export type Scope = { type: 'repository'; path: string; actions: Action[] } | { type: 'catalog' };

const isAction = (text: string): text is Action => actionNames.some((name) => name === text);

function parseScope(text: string): Scope | undefined {
  if (text === 'registry:catalog:*') return { type: 'catalog' };
  const [, path = '', asked = ''] = /^repository:([^:]+):([^:]*)$/.exec(text) ?? [];
  if (!isImagePath(path)) return undefined;
  return { type: 'repository', path, actions: [...new Set(asked.split(',').filter(isAction))] };
}

/** Scopes of one request. */
export const MAX_SCOPES = 20;

/** The scopes of all `scope` parameters, each of which may have several; what is none is left out. Undefined for too many. */
export function parseScopes(parameters: readonly string[]): Scope[] | undefined {
  const all = parameters.flatMap((text) => text.split(' ')).filter((text) => text !== '');
  if (all.length > MAX_SCOPES) return undefined;
  return all.flatMap((text) => parseScope(text) ?? []);
}

/** Bytes of an upload that a chunk is, both included. */
export type ChunkRange = { start: number; end: number };

/** `Content-Range` of a chunk, `0-99`; undefined without the header. */
export function chunkRange(header: string | undefined): ChunkRange | 'invalid' | undefined {
  if (header === undefined) return undefined;
  const [, first, last] = /^(?:bytes[= ])?(\d{1,15})-(\d{1,15})(?:\/[\d*]+)?$/.exec(header.trim()) ?? [];
  const range = { start: Number(first), end: Number(last) };
  return first !== undefined && range.end >= range.start ? range : 'invalid';
}

/** `Range` of what has arrived: `0-0` where nothing has. */
export const arrivedRange = (size: number): string => `0-${Math.max(0, size - 1)}`;

/** Entries of one page. */
export const MAX_PAGE = 1_000;

/** The number of entries that `n` asks for, by default a whole page; undefined where it is no number. */
export function pageSize(n: string | null): number | undefined {
  if (n === null) return MAX_PAGE;
  return /^\d{1,9}$/.test(n) ? Math.min(Number(n), MAX_PAGE) : undefined;
}
