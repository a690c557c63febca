/** Requests of Git LFS programs: who comes, to which project, and refusals in the protocol's form. */
import { type AuthorizedProject, Moved } from '../../../kernel/access/find.ts';
import { admit } from '../../../kernel/api/gate.ts';
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure, type FailureKind } from '../../../platform/failure.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../platform/http/messages.ts';
import { isOn } from '../objects/queries.ts';

export type LfsServices = Needs<
  | 'config'
  | 'database'
  | 'settings'
  | 'authenticator'
  | 'limiter'
  | 'disk'
  | 'blobs'
  | 'repositories'
  | 'registered'
>;

export type Purpose = 'read' | 'write';

/** What git over HTTP asks of who fetches and pushes: whoever may do that, may do so with large files. */
export type GitAccess = {
  /** 401 for a wrong credential. */
  identify(services: LfsServices, settings: ApplicationSettings, request: HttpRequest): Promise<Visitor>;
  /** 403 for a credential that never allows this. */
  requirePurpose(visitor: Visitor, purpose: Purpose): void;
  /** The project at the address; 401, 403 and 404 as the API, Moved under an old path. */
  authorize(request: {
    services: LfsServices;
    settings: ApplicationSettings;
    visitor: Visitor;
    purpose: Purpose;
    path: string;
  }): Promise<AuthorizedProject>;
};

export type LfsRequest = {
  services: LfsServices;
  settings: ApplicationSettings;
  request: HttpRequest;
  visitor: Visitor;
  project: AuthorizedProject;
};

/** Who comes, before it is known what for. */
export type Arrived = Omit<LfsRequest, 'project'> & {
  /** The project, if the visitor may fetch from it or push to it, and Git LFS is on there. */
  enter(purpose: Purpose): Promise<LfsRequest>;
};

export const TYPE = 'application/vnd.git-lfs+json';

export const lfsJson = (status: number, value: unknown): HttpResponse =>
  json(status, value, { 'content-type': TYPE, 'cache-control': 'no-store' });

const refused = (): Failure => new Failure('forbidden', 'Access forbidden. Check your access level.');

async function enter(
  git: GitAccess,
  arrived: Omit<LfsRequest, 'project'>,
  purpose: Purpose,
): Promise<LfsRequest> {
  const { services, settings, request, visitor } = arrived;
  const path = request.params.path ?? '';
  git.requirePurpose(visitor, purpose);
  if (path.includes('\0')) throw new Failure('not_found', 'Not found.');
  const project = await git
    .authorize({ services, settings, visitor, purpose, path })
    .catch((error: unknown) => {
      throw error instanceof Failure && error.kind === 'forbidden' ? refused() : error;
    });
  if (!(await isOn(services.database.db, project))) throw refused();
  return { ...arrived, project };
}

/** Serves a request; `writes` is what maintenance and a full disk refuse. */
export async function guardLfs(
  {
    services,
    git,
    request,
    writes,
  }: { services: LfsServices; git: GitAccess; request: HttpRequest; writes: boolean },
  work: (arrived: Arrived) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const settings = await services.settings.read();
  let visitor: Visitor = { caller: undefined };
  let wrong: unknown;
  try {
    visitor = await git.identify(services, settings, request).catch((error: unknown) => {
      wrong = error;
      return visitor;
    });
    const account = visitor.caller?.id ?? visitor.deployToken?.id;
    const barred = await admit(services, request, settings, { kind: 'git', account, wrong, writes });
    if (barred) return barred;
    const arrived = { services, settings, request, visitor };
    const response = await work({ ...arrived, enter: (purpose) => enter(git, arrived, purpose) });
    const actor = visitor.caller?.username ?? visitor.deployToken?.username;
    return { ...response, ...(actor !== undefined && { actor }) };
  } catch (error) {
    // Many programs read no response before they have sent all.
    if (!request.bodyStream.destroyed) request.bodyStream.resume();
    if (error instanceof Moved) return movedResponse(request, error);
    const anonymous = wrong === undefined && !visitor.caller && !visitor.deployToken;
    if (error instanceof Failure) return refusalResponse(services.config.gitRealm, request, anonymous, error);
    throw error;
  }
}

/** An anonymous visitor does not learn whether there is a project: the program asks for a name and a password. */
const forWhoIsNobody: ReadonlySet<FailureKind> = new Set(['unauthenticated', 'forbidden', 'not_found']);

function refusalResponse(
  realm: string,
  { id }: HttpRequest,
  anonymous: boolean,
  failure: Failure,
): HttpResponse {
  const { kind, publicMessage, details } = failure;
  const asks = kind === 'unauthenticated' || (anonymous && forWhoIsNobody.has(kind));
  const text = typeof publicMessage === 'string' ? publicMessage : failure.message;
  const shown =
    asks && anonymous ? 'Credentials needed' : text === '404 Project Not Found' ? 'Not found.' : text;
  const message = shown.replace(/^4\d\d (?:Forbidden|Bad request) - /, '');
  const response = lfsJson(asks ? 401 : failure.status, { message, request_id: id });
  const challenge = `Basic realm="${realm}"`;
  return {
    ...response,
    headers: {
      ...response.headers,
      ...details.headers,
      ...(asks && { 'lfs-authenticate': challenge, 'www-authenticate': challenge }),
    },
    failure: asks ? 'unauthenticated' : kind,
  };
}

/** The same address below the project's path of now. */
function movedResponse(request: HttpRequest, { fullPath }: Moved): HttpResponse {
  const ending = request.path.slice(request.path.lastIndexOf('.git/'));
  const query = request.query === '' ? '' : `?${request.query}`;
  const location = `${request.origin}/${fullPath}${ending}${query}`;
  return { ...lfsJson(308, { message: `The repository has moved to ${location}` }), headers: { location } };
}
