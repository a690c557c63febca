/** Responses under a project's old path (spec: General request rules, 6). */

import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { movedRefusal } from '../access/find.ts';

/** Credentials, which must not appear in a Location. */
const credentials = new Set(['private_token', 'access_token', 'job_token']);

/** The query for another address. */
export const withoutCredentials = (query: string): string =>
  query
    .split('&')
    .filter((part) => part !== '' && !credentials.has([...new URLSearchParams(part).keys()][0] ?? ''))
    .join('&');

/** 301 to the project's number for a read; 405 for other methods (facts §10). */
export function movedResponse(request: HttpRequest, projectId: number): HttpResponse {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw movedRefusal();
  const path = request.path.replace(/^(\/api\/v4\/projects\/)[^/]+/, `$1${projectId}`);
  const query = withoutCredentials(request.query);
  const location = `${request.origin}${path}${query === '' ? '' : `?${query}`}`;
  return {
    status: 301,
    headers: { location, 'content-type': 'text/plain; charset=utf-8' },
    body: `This resource has been moved permanently to ${location}`,
  };
}
