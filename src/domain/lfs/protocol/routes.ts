/** Git LFS over HTTP: what is below the address of a project's repository. */
import type { HttpResponse } from '../../../platform/http/messages.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { type Arrived, type GitAccess, guardLfs, type LfsServices, lfsJson } from './access.ts';
import { createLock, listLocks, removeLock, verifyLocks } from './locks.ts';
import { answerBatch, receiveObject, sendObject, verifyObject } from './objects.ts';

const OLD = 'Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.';
/** Bytes of what is no object: the ids and sizes of thousands. */
const MAX_TEXT_BYTES = 1_048_576;

export function lfsRoutes(services: LfsServices, git: GitAccess): Route[] {
  const route = (
    line: `${'GET' | 'POST' | 'PUT'} ${string}`,
    work: (arrived: Arrived) => Promise<HttpResponse>,
    { writes = false, bodyLimit = MAX_TEXT_BYTES }: { writes?: boolean; bodyLimit?: number } = {},
  ): Route => {
    const [method, path] = line.split(' ') as ['GET' | 'POST' | 'PUT', string];
    return {
      kind: 'git',
      method,
      path: `/:path+.git/${path}`,
      bodyLimit,
      handle: (request) => guardLfs({ services, git, request, writes }, work),
    };
  };
  const old = (method: 'GET' | 'POST', path: string): Route => ({
    kind: 'static',
    method,
    path: `/:path+.git/${path}`,
    handle: async () => lfsJson(501, { message: OLD }),
  });
  return [
    // It may be about fetching.
    route('POST info/lfs/objects/batch', answerBatch),
    route('POST info/lfs/objects/verify', verifyObject),
    route('GET lfs/objects/:oid', sendObject),
    route('PUT lfs/objects/:oid/:size', receiveObject, { writes: true, bodyLimit: Number.POSITIVE_INFINITY }),
    route('GET info/lfs/locks', listLocks),
    route('POST info/lfs/locks', createLock, { writes: true }),
    route('POST info/lfs/locks/verify', verifyLocks),
    route('POST info/lfs/locks/:id/unlock', removeLock, { writes: true }),
    old('POST', 'info/lfs/objects'),
    old('GET', 'info/lfs/objects/:oid'),
  ];
}
