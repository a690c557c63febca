/** Reads the one credential of a request from headers, query and cookie (spec: Authentication, rule 3). Pure. */
import type { TokenKind } from '../actor.ts';

export type PresentedCredential =
  | { form: 'token' /** Or its digest. */; token: string | Buffer; kinds: readonly TokenKind[] }
  | { form: 'job_token'; token: string }
  | { form: 'deploy_token' }
  | { form: 'session'; token: string }
  | { form: 'none' };

type Headers = Record<string, string | string[] | undefined>;

const privateKinds: readonly TokenKind[] = ['personal', 'impersonation', 'project', 'group'];
const bearerKinds: readonly TokenKind[] = [...privateKinds, 'oauth'];

export const SESSION_COOKIE = '_service_session';

const first = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** The value of a cookie, or undefined. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const separator = part.indexOf('=');
    if (separator > 0 && part.slice(0, separator).trim() === name) return part.slice(separator + 1).trim();
  }
  return undefined;
}

/** Basic credentials, as git and other clients outside the API send them. */
export type BasicCredential = { username: string; password: string };

/** Username and password, or a bearer token as the password of an empty username; else undefined. */
export function readAuthorization(header: string | undefined): BasicCredential | undefined {
  const [, scheme = '', value = ''] = /^(basic|bearer)\s+(\S+)\s*$/i.exec(header ?? '') ?? [];
  if (scheme === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return { username: '', password: value };
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0
    ? { username: text, password: '' }
    : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * The first credential presented, in the public order: private token, bearer token, OAuth parameter, job token, deploy
 * token, session cookie. `query` holds the parameters of the query string; a present but empty token counts as none.
 */
export function presentedCredential(headers: Headers, query: Record<string, unknown>): PresentedCredential {
  const parameter = (name: string): string | undefined => {
    const value = query[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const privateToken = first(headers['private-token']) || parameter('private_token');
  if (privateToken) return { form: 'token', token: privateToken, kinds: privateKinds };
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(headers.authorization?.toString() ?? '')?.[1];
  if (bearer) return { form: 'token', token: bearer, kinds: bearerKinds };
  const oauth = parameter('access_token');
  if (oauth) return { form: 'token', token: oauth, kinds: bearerKinds };
  const job = first(headers['job-token']) || parameter('job_token');
  if (job) return { form: 'job_token', token: job };
  if (headers['deploy-token']) return { form: 'deploy_token' };
  const session = readCookie(headers.cookie?.toString(), SESSION_COOKIE);
  if (session) return { form: 'session', token: session };
  return { form: 'none' };
}

/**
 * The token of a package program: as the password of Basic credentials, as a bearer token, bare, or in a header of its format;
 * undefined where none of these is there. An empty password counts as none.
 */
export function presentedPackageToken(headers: Headers): { username?: string; token: string } | undefined {
  const own =
    first(headers['private-token']) ||
    first(headers['job-token']) ||
    first(headers['deploy-token']) ||
    first(headers['x-nuget-apikey']);
  if (own) return { token: own };
  const authorization = headers.authorization?.toString() ?? '';
  const presented = readAuthorization(authorization);
  if (presented?.password)
    return { token: presented.password, ...(presented.username !== '' && { username: presented.username }) };
  return /^[\w.-]+$/.test(authorization) ? { token: authorization } : undefined;
}
