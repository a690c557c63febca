/** The caller of a file outside the API: by session, or by a credential of the API. */
import type { HttpRequest } from '../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../platform/http/parameters/raw-parameters.ts';
import type { Caller } from '../actor.ts';
import type { Services } from '../services.ts';
import { requireScope } from './authenticate.ts';
import { presentedCredential } from './credentials.ts';

/** The caller of a read; 401 or 403 for a credential that is wrong or lacks a scope. */
export async function callerOf(services: Services, request: HttpRequest): Promise<Caller> {
  const question = {
    credential: presentedCredential(request.headers, parseUrlEncoded(request.query)),
    jobToken: false,
    safeMethod: true,
    csrfToken: undefined,
    sudo: undefined,
  };
  const caller = await services.authenticator.authenticate(question, await services.settings.read());
  requireScope(caller, ['api', 'read_api']);
  return caller;
}
