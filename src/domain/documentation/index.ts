/** Documentation: the API described for programs and for readers, and the refusal of version 3. */

import { describeApi } from '../../kernel/api/openapi.ts';
import type { Capability } from '../../kernel/capability.ts';
import { version } from '../../package.ts';
import { Failure } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { Method, Route } from '../../platform/http/server/server.ts';
import { documentationPage } from './page.ts';

/** `all` are the mounted capabilities; read at the first request, when all are mounted. */
export function documentationCapability(all: () => readonly Capability[]): Capability {
  const openApi = once('application/json', () => JSON.stringify(describeApi(all(), version.api)));
  const page = once('text/html; charset=utf-8', () => documentationPage(all()));
  return {
    name: 'documentation',
    endpoints: [],
    tables: [],
    routes: [document('/api/v4/openapi.json', openApi), document('/api/docs', page), ...formerVersion],
  };
}

const document = (path: string, respond: () => HttpResponse): Route => ({
  kind: 'static',
  method: 'GET',
  path,
  crossOrigin: 'any',
  handle: async () => respond(),
});

/** A constant response, created at the first request. */
function once(contentType: string, make: () => string): () => HttpResponse {
  let body: Buffer | undefined;
  return () => {
    body ??= Buffer.from(make());
    return { status: 200, headers: { 'content-type': contentType }, body, sameForAll: true };
  };
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Refuses requests of version 3 (spec: Versioning). */
const formerVersion: Route[] = ['/api/v3', '/api/v3/*'].flatMap((path) =>
  methods.map((method) => ({
    kind: 'static',
    method,
    path,
    crossOrigin: 'any',
    handle: async () => {
      throw new Failure('gone', '410 Gone', { error: 'API V3 is no longer supported. Use API V4 instead.' });
    },
  })),
);
