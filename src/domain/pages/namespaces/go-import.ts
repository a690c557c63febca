/** The response to the go command: the repository that a module's path lies in (`?go-get=1`). */
import { selectProjects } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { requireScope } from '../../../kernel/identity/authenticate.ts';
import { readAuthorization } from '../../../kernel/identity/credentials.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html, htmlResponse } from '../../../platform/http/pages/html.ts';
import type { ViewContext } from '../view/view-context.ts';

/** Groups are nested 20 deep at most, and a project stands in the last. */
const MAX_PROJECT_SEGMENTS = 21;

const scopes = ['api', 'read_api', 'read_repository', 'write_repository'];

export const asksForGoImport = ({ request }: ViewContext): boolean =>
  new URLSearchParams(request.query).get('go-get') === '1';

/** The go command sends the host's credentials as Basic. A wrong token is that of an anonymous caller. */
async function callerOf({ caller, services, settings, request }: ViewContext): Promise<Caller> {
  const presented = readAuthorization(request.headers.authorization?.toString());
  if (caller || !presented) return caller;
  const kinds = ['personal', 'impersonation', 'project', 'group', 'oauth'] as const;
  const credential = { form: 'token', token: presented.password, kinds } as const;
  const question = { credential, jobToken: false, safeMethod: true, csrfToken: undefined, sudo: undefined };
  try {
    const found = await services.authenticator.authenticate(question, settings);
    requireScope(found, scopes);
    return found;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/**
 * The project whose path the module's begins with. Where the caller sees none, the first two segments are
 * named, so that the response does not tell a hidden project from none.
 */
export async function showGoImport(view: ViewContext): Promise<HttpResponse> {
  const { services } = view;
  const segments = view.param('path').split('/');
  if (segments.length < 2 || !segments.every((segment) => /^[\w.-]+$/.test(segment)))
    throw notFound('Project');
  const paths = segments
    .slice(1, MAX_PROJECT_SEGMENTS)
    .map((_, index) => segments.slice(0, index + 2).join('/'));
  const caller = await callerOf(view);
  const seen = await selectProjects(services.database.points, caller, 'read_project', paths);
  const path = paths.find((each) => seen.has(each.toLowerCase())) ?? paths[0] ?? '';
  const address = `${services.baseUrl()}/${path}`;
  const prefix = address.replace(/^https?:\/\//, '');
  const document = html`<!doctype html>
<html><head><meta name="go-import" content="${prefix} git ${address}.git"></head><body>go get ${prefix}</body></html>
`;
  return htmlResponse(200, document.text);
}
