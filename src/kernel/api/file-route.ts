/**
 * The route of a file that texts and records name: its reader has a session, or a credential of the API.
 * fileRoute() is for files what page() is for pages.
 */
import { notFound } from '../../platform/failure.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../platform/http/parameters/raw-parameters.ts';
import { addressKey } from '../../platform/http/rate-limit.ts';
import type { Route } from '../../platform/http/server/server.ts';
import type { Caller } from '../actor.ts';
import { requireScope } from '../identity/authenticate.ts';
import { presentedCredential } from '../identity/credentials.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { throttled } from './gate.ts';

export type FileContext = { caller: Caller; params: Record<string, string>; request: HttpRequest };

type FileSpec = {
  path: string;
  /** Everybody may read it: credentials are not looked at. */
  open?: boolean;
  handle(context: FileContext): Promise<HttpResponse>;
};

export const fileRoute = (services: Services, spec: FileSpec): Route => ({
  kind: 'file',
  method: 'GET',
  path: spec.path,
  async handle(request) {
    const settings = await services.settings.read();
    let caller: Caller;
    let wrong: unknown;
    try {
      if (!spec.open) caller = await callerOf(services, request, settings);
    } catch (error) {
      wrong = error;
    }
    // A wrong credential counts as an anonymous request.
    const refused = await throttled(services, request, settings, [
      caller
        ? { name: 'throttle_authenticated_web', key: caller.id }
        : { name: 'throttle_unauthenticated_web', key: addressKey(request.address) },
    ]);
    if (refused) return refused;
    if (wrong !== undefined) throw wrong;
    const { params } = request;
    if (Object.values(params).some((value) => value.includes('\0'))) throw notFound();
    return { ...(await spec.handle({ caller, params, request })), ...(caller && { actor: caller.username }) };
  },
});

/** 401 or 403 for a credential that is wrong or lacks a scope. */
async function callerOf(
  services: Services,
  request: HttpRequest,
  settings: ApplicationSettings,
): Promise<Caller> {
  const question = {
    credential: presentedCredential(request.headers, parseUrlEncoded(request.query)),
    jobToken: false,
    safeMethod: true,
    csrfToken: undefined,
    sudo: undefined,
  };
  const caller = await services.authenticator.authenticate(question, settings);
  requireScope(caller, ['api', 'read_api']);
  return caller;
}
