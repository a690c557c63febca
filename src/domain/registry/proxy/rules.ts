/** The dependency proxy: what the registry behind it asks for, and what its refusals mean. Pure. */

/** What a 401 asks for: a token of a service, or the credentials themselves. */
export type Challenge =
  | { scheme: 'bearer'; realm: string; service: string | undefined }
  | { scheme: 'basic' };

const MAX_CHALLENGE_LENGTH = 4_096;

function bearerOf(text: string): Challenge | undefined {
  if (text.length > MAX_CHALLENGE_LENGTH || !/^bearer\s/i.test(text)) return undefined;
  const fields = new Map(
    [...text.matchAll(/(\w{1,32})="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name.toLowerCase(),
      value,
    ]),
  );
  const realm = fields.get('realm');
  return realm === undefined ? undefined : { scheme: 'bearer', realm, service: fields.get('service') };
}

/** The challenge of the `WWW-Authenticate` headers of a response; a token is better than the credentials. */
export function readChallenge(header: string | string[] | undefined): Challenge | undefined {
  const all = [header ?? []].flat();
  for (const text of all) {
    const bearer = bearerOf(text);
    if (bearer) return bearer;
  }
  return all.some((text) => /^basic\b/i.test(text)) ? { scheme: 'basic' } : undefined;
}

/** Where a token to pull the image is; undefined for a place to which nobody's credentials should go. */
export function tokenAddress(
  { realm, service }: { realm: string; service: string | undefined },
  upstream: string,
  image: string,
): string | undefined {
  const url = URL.parse(realm);
  const protocols = upstream.startsWith('https:') ? ['https:'] : ['https:', 'http:'];
  if (!url || !protocols.includes(url.protocol) || url.username !== '' || url.password !== '')
    return undefined;
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${image}:pull`);
  return url.href;
}

/** Why the registry behind did not give what was asked for. */
export type UpstreamReason = 'missing' | 'refused' | 'limited' | 'unreachable';

/** By the status of its response; one that wants a credential does not say whether the image is there. */
export function reasonOf(status: number): UpstreamReason {
  if (status === 429) return 'limited';
  return status >= 400 && status < 500 && status !== 408 ? 'missing' : 'unreachable';
}

/** Whether what is kept is served in the place of what the registry behind does not give now. */
export const isPassing = (reason: UpstreamReason): boolean =>
  reason === 'limited' || reason === 'unreachable';

/** How much of a download came since when, in milliseconds of any clock that only grows. */
export type Pace = { since: number; bytes: number };

const PACE_MS = 60_000;
const LEAST_BYTES = 65_536;

/** With a piece that comes at that time; undefined where the minute before brought too little to hold a place for it. */
export function paceAfter({ since, bytes }: Pace, piece: number, at: number): Pace | undefined {
  const pace = { since, bytes: bytes + piece };
  if (at - since < PACE_MS) return pace;
  return pace.bytes < LEAST_BYTES ? undefined : { since: at, bytes: 0 };
}
