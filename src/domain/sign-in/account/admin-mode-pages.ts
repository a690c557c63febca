/** The pages by which an administrator's session enters admin mode, and leaves it. */
import { notice } from '../../../kernel/api/forms.ts';
import { localPath } from '../../../kernel/api/local-path.ts';
import {
  ADMIN_MODE_PATH,
  type Page,
  type PageContext,
  redirect,
  sessionPage,
  showPage,
  tokenField,
} from '../../../kernel/api/page.ts';
import type { Session } from '../../../kernel/identity/sessions.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { adminModeForm, leaveAdminModeForm } from '../forms/account-views.ts';
import type { Problem } from '../forms/problems.ts';
import { enterAdminMode, leaveAdminMode } from './actions.ts';
import { own } from './pages.ts';

type Context = PageContext<Session>;

/** The id of an administrator's session, where admin mode is demanded; 404 for all others. */
function sessionIdOf({ session }: Context): number {
  const { credential } = session.actor;
  if (session.adminMode === undefined || credential.via !== 'session') throw notFound('Page');
  return credential.sessionId;
}

function showForm(context: Context, problems: readonly Problem[]): HttpResponse {
  const { services, session, field } = context;
  sessionIdOf(context);
  const token = tokenField(services, session);
  if (session.adminMode)
    return showPage(services, session, { title: 'Admin mode', body: leaveAdminModeForm(token) });
  const body = adminModeForm({
    token,
    username: session.actor.username,
    twoFactor: session.twoFactor,
    returnTo: localPath(field('return_to')),
    problems,
  });
  return showPage(services, session, {
    title: 'Enter admin mode',
    body,
    status: problems.length === 0 ? 200 : 422,
  });
}

async function postEnter(context: Context): Promise<HttpResponse> {
  const { session, field } = context;
  const id = sessionIdOf(context);
  const input = { password: field('current_password'), code: field('code') };
  const result = await enterAdminMode(own(context), { id, twoFactor: session.twoFactor }, input);
  return 'problems' in result ? showForm(context, result.problems) : redirect(localPath(field('return_to')));
}

async function postLeave(context: Context): Promise<HttpResponse> {
  await leaveAdminMode(own(context), sessionIdOf(context));
  const { services, session } = context;
  const body = notice('Admin mode', 'This session has left admin mode.', { path: '/', label: 'Go on' });
  return showPage(services, { ...session, adminMode: false }, { title: 'Admin mode', body });
}

/** Under the public product's addresses. */
export const adminModePages: Page[] = [
  sessionPage({ method: 'GET', path: ADMIN_MODE_PATH, handle: async (context) => showForm(context, []) }),
  sessionPage({ method: 'POST', path: '/admin/session', protected: true, handle: postEnter }),
  sessionPage({ method: 'POST', path: '/admin/session/destroy', handle: postLeave }),
];
