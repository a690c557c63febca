/**
 * The route of a file that texts and records name: its reader has a session, or a credential of the API.
 * fileRoute() is for files what page() is for pages.
 */
import { notFound } from '../../platform/failure.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../platform/http/parameters/raw-parameters.ts';
import type { Route } from '../../platform/http/server/server.ts';
import { type AuthorizedProject, followProject } from '../access/find.ts';
import type { Caller } from '../actor.ts';
import { requireScope } from '../identity/authenticate.ts';
import { presentedCredential } from '../identity/credentials.ts';
import type { ProjectAbility } from '../policy/policy.ts';
import type { Needs } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { admit } from './gate.ts';

export type FileContext = { caller: Caller; params: Record<string, string>; request: HttpRequest };

/** The project in whose address the file is. 404 as elsewhere; addresses stay valid when the project moves. */
export async function projectOfFile(
  { database: { points } }: Needs<'database'>,
  { caller, params: { path = '' } }: Pick<FileContext, 'caller' | 'params'>,
  ability: ProjectAbility,
): Promise<AuthorizedProject> {
  if (!path.includes('/')) throw notFound();
  return followProject(points, caller, ability, path);
}

type FileSpec = {
  path: string;
  /** Everybody may read it: credentials are not looked at. */
  open?: boolean;
  handle(context: FileContext): Promise<HttpResponse>;
};

export const fileRoute = (
  services: Needs<'settings' | 'authenticator' | 'limiter' | 'disk'>,
  spec: FileSpec,
): Route => ({
  kind: 'file',
  method: 'GET',
  path: spec.path,
  async handle(request) {
    const settings = await services.settings.read();
    let caller: Caller;
    let wrong: unknown;
    try {
      if (!spec.open) caller = await identify(services, request, settings);
    } catch (error) {
      wrong = error;
    }
    const visit = { kind: 'file', account: caller?.id, wrong, writes: false } as const;
    const refused = await admit(services, request, settings, visit);
    if (refused) return refused;
    requireScope(caller, ['api', 'read_api']);
    const { params } = request;
    if (Object.values(params).some((value) => value.includes('\0'))) throw notFound();
    return { ...(await spec.handle({ caller, params, request })), ...(caller && { actor: caller.username }) };
  },
});

/** 401 for a wrong credential. */
const identify = (
  services: Needs<'authenticator'>,
  request: HttpRequest,
  settings: ApplicationSettings,
): Promise<Caller> =>
  services.authenticator.authenticate(
    {
      credential: presentedCredential(request.headers, parseUrlEncoded(request.query)),
      jobToken: false,
      safeMethod: true,
      csrfToken: undefined,
      sudo: undefined,
    },
    settings,
  );
