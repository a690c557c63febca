/** Git over HTTP: `<full path>.git`, `<full path>.wiki.git` and `snippets/<id>.git`, with what follows them. */

import { Moved } from '../../../kernel/access/find.ts';
import { admit } from '../../../kernel/api/gate.ts';
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure, type FailureKind } from '../../../platform/failure.ts';
import type { Service } from '../../../platform/git/program/transport.ts';
import type { HttpRequest, HttpResponse } from '../../../platform/http/messages.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import type { FollowerServices } from '../pushes/push-followers.ts';
import type { PushTarget } from '../store/repository-kinds.ts';
import { identify, type Purpose, purposes, requirePurpose } from './credentials.ts';
import { receive } from './receive.ts';
import { resolveRepository } from './resolve-repository.ts';
import { askWho, neverKept, plainText } from './responses.ts';
import { advertise, upload } from './upload.ts';

const isService = (name: string): name is Service => Object.hasOwn(purposes, name);

const DUMB =
  'Repositories are served by the smart protocol only. Please use git 1.6.6 or later, or another client that speaks it.';

export type GitServices = FollowerServices & Needs<'authenticator' | 'disk'>;

/** All routes of git. */
export function gitRoutes(services: GitServices): Route[] {
  const post = (
    service: Service,
    work: (target: PushTarget, request: HttpRequest) => Promise<HttpResponse>,
  ): Route => ({
    kind: 'git',
    method: 'POST',
    path: `/:path+.git/git-${service}`,
    handle: (request) =>
      guardGitRequest(services, request, purposes[service], (target) => work(target, request)),
  });
  const dumb = (path: string): Route => ({
    kind: 'git',
    method: 'GET',
    path: `/:path+.git/${path}`,
    handle: (request) => guardGitRequest(services, request, 'read', async () => plainText(403, DUMB)),
  });
  return [
    {
      kind: 'static',
      method: 'GET',
      path: '/:path+/info/refs',
      handle: async (request) => withSuffix(request),
    },
    {
      kind: 'git',
      method: 'GET',
      path: '/:path+.git/info/refs',
      async handle(request) {
        const requested = new URLSearchParams(request.query).get('service')?.replace(/^git-/, '') ?? '';
        const service = isService(requested) ? requested : undefined;
        return guardGitRequest(services, request, service ? purposes[service] : 'read', async (target) =>
          service ? advertise(services, target, request, service) : plainText(403, DUMB),
        );
      },
    },
    post('upload-pack', (target, request) => upload(services, target, request)),
    post('receive-pack', (target, request) => receive(services, target, request)),
    dumb('HEAD'),
    dumb('objects/*'),
  ];
}

/**
 * Leads git to the address with `.git`, below which its requests follow; for any path, so that it discloses
 * no repository.
 */
function withSuffix({ origin, path, query }: HttpRequest): HttpResponse {
  const location = `${origin}${path.replace(/\/info\/refs\/?$/, '.git/info/refs')}${query === '' ? '' : `?${query}`}`;
  return plainText(301, `Repositories are at addresses that end in .git: ${location}`, { location });
}

/** Authorizes the visitor for the repository, or refuses in text that git shows to people. */
async function guardGitRequest(
  services: Needs<
    'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk' | 'repositories' | 'registered'
  >,
  request: HttpRequest,
  purpose: Purpose,
  work: (target: PushTarget) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const settings = await services.settings.read();
  const path = request.params.path ?? '';
  let visitor: Visitor = { caller: undefined };
  let wrong: unknown;
  try {
    visitor = await identify(services, settings, request).catch((error: unknown) => {
      wrong = error;
      return visitor;
    });
    const account = visitor.caller?.id ?? visitor.deployToken?.id;
    const visit = { kind: 'git', account, wrong, writes: purpose === 'write' } as const;
    const refused = await admit(services, request, settings, visit);
    if (refused) return { ...refused, headers: { ...neverKept, ...refused.headers } };
    requirePurpose(visitor, purpose);
    if (path.includes('\0')) throw new Failure('not_found', 'Not found');
    const response = await work(await resolveRepository({ services, settings, visitor, purpose, path }));
    const actor = visitor.caller?.username ?? visitor.deployToken?.username;
    return { ...response, ...(actor !== undefined && { actor }) };
  } catch (error) {
    if (error instanceof Moved) return movedResponse(request, path, error);
    const anonymous = wrong === undefined && !visitor.caller && !visitor.deployToken;
    if (error instanceof Failure) return refusalResponse(services.config.gitRealm, anonymous, error);
    if (request.signal.aborted) return plainText(400, 'The client hung up.');
    throw error;
  }
}

/**
 * An anonymous visitor does not learn whether there is a repository: git prompts for a name and a password.
 */
const forWhoIsNobody: ReadonlySet<FailureKind> = new Set(['unauthenticated', 'forbidden', 'not_found']);

function refusalResponse(realm: string, anonymous: boolean, failure: Failure): HttpResponse {
  const text = typeof failure.publicMessage === 'string' ? failure.publicMessage : failure.message;
  if (anonymous && forWhoIsNobody.has(failure.kind))
    return {
      ...askWho(realm, 'HTTP Basic: Access denied. Sign in to use this repository.'),
      failure: failure.kind,
    };
  if (failure.kind === 'unauthenticated') return { ...askWho(realm, text), failure: failure.kind };
  const shown = failure.kind === 'not_found' ? NOT_FOUND : text.replace(/^403 Forbidden - /, '');
  return { ...plainText(failure.status, shown, failure.details.headers), failure: failure.kind };
}

const NOT_FOUND = 'The repository could not be found, or you have no permission to view it.';

/** The same address below the project's path of now: git goes on from there, pushes too. */
function movedResponse(request: HttpRequest, path: string, { fullPath }: Moved): HttpResponse {
  const ending = request.path.slice(request.path.lastIndexOf('.git/'));
  const query = request.query === '' ? '' : `?${request.query}`;
  const wiki = path.endsWith('.wiki') && !fullPath.endsWith('.wiki') ? '.wiki' : '';
  const location = `${request.origin}/${fullPath}${wiki}${ending}${query}`;
  return plainText(301, `The repository has moved to ${location}`, { location });
}
