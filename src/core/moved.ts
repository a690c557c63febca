/** What a request under a project's old path is told: where it is now, for reads only (spec: General request rules, 6). */

import type { HttpRequest, HttpResponse } from '../platform/http/messages.ts';
import { movedRefusal } from './access/find.ts';

/** Parameters that carry a credential: they must not travel in a Location. */
const credentials = new Set(['private_token', 'access_token', 'job_token']);

const withoutCredentials = (query: string): string =>
  query
    .split('&')
    .filter((part) => part !== '' && !credentials.has([...new URLSearchParams(part).keys()][0] ?? ''))
    .join('&');

/** 301 with the same request under the project's number; 405 for anything but a read (facts §10). */
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
