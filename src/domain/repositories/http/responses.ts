/** Responses for git: text that it shows to people, and headers against caches. */
import type { Readable } from 'node:stream';
import type { HttpResponse } from '../../../platform/http/messages.ts';

/** As git's own server has them. */
export const neverKept = {
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
  'cache-control': 'no-cache, max-age=0, must-revalidate',
};

/** git shows the body of a refusal, each line behind `remote: `, when it is plain text. */
export const plainText = (
  status: number,
  text: string,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status,
  headers: { ...neverKept, 'content-type': 'text/plain; charset=utf-8', ...headers },
  body: `${text}\n`,
});

export const ofService = (what: string, body: Readable | Buffer): HttpResponse => ({
  status: 200,
  headers: { ...neverKept, 'content-type': `application/x-git-${what}` },
  body,
});

/**
 * Makes git prompt for a name and a password, once. Credential helpers tell the kind of server by the realm.
 */
export const askWho = (realm: string, text: string): HttpResponse =>
  plainText(401, text, { 'www-authenticate': `Basic realm="${realm}"` });
