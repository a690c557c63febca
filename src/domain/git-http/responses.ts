/** Answers for git: text that it shows to people, and the headers of what must not be kept. */
import type { Readable } from 'node:stream';
import type { HttpResponse } from '../../platform/http/messages.ts';

/** As git's own server says it. */
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

/** Makes git ask for a name and a password, once. Helpers tell by the realm what kind of server it is. */
export const askWho = (realm: string, text: string): HttpResponse =>
  plainText(401, text, { 'www-authenticate': `Basic realm="${realm}"` });
