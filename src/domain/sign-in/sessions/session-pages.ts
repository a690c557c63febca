/** The pages of home, sign-in and sign-out. */

import { notice } from '../../../kernel/api/forms.ts';
import { welcome } from '../../../kernel/api/layout.ts';
import { localPath } from '../../../kernel/api/local-path.ts';
import {
  type Page,
  type PageContext,
  page,
  redirect,
  sessionPage,
  showPage,
} from '../../../kernel/api/page.ts';
import { UNCONFIRMED } from '../../../kernel/identity/passwords/login-rules.ts';
import {
  noSessionCookie,
  type Session,
  sessionCookie,
  sessionOrigin,
} from '../../../kernel/identity/sessions.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html, pagePolicy } from '../../../platform/http/pages/html.ts';
import { home, passwordsOff, secondStepForm, signInForm } from '../forms/views.ts';
import { type SignIn, signInWithCode, signInWithPassword, signOut } from './actions.ts';
import { isRedirectUri } from './queries.ts';
import { afterSignOut, applicationAt, formActionOf, signUpOpen } from './rules.ts';

/** The text for a user who must still set up two-factor authentication. */
export function dutyText(session: Session): string | undefined {
  const { duty } = session;
  if (duty.kind === 'none') return undefined;
  if (duty.kind === 'overdue') return 'You must set up two-factor authentication before you can go on.';
  return `You must set up two-factor authentication before ${duty.until.toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
}

/**
 * The headers of a form that signs in. Browsers apply `form-action` to the redirects behind a form, to the
 * end of any chain: the application's redirect URI is named there, once it is known to be its own.
 */
async function formHeaders({ db }: PageContext, returnTo: string): Promise<Record<string, string>> {
  const application = applicationAt(returnTo);
  if (!application || !(await isRedirectUri(db, application.uid, application.redirectUri))) return {};
  return { 'content-security-policy': pagePolicy({ formsTo: formActionOf(application.redirectUri) }) };
}

async function showSignIn(context: PageContext, problem: string | undefined): Promise<HttpResponse> {
  const { services, settings, session, field } = context;
  const open = settings.password_authentication_enabled_for_web;
  const returnTo = localPath(field('return_to'));
  const form = {
    problem,
    unconfirmed: problem === UNCONFIRMED,
    login: field('login') || (session?.actor.username ?? ''),
    returnTo,
    signUp: signUpOpen(settings),
  };
  const { appearance } = await services.instance.read();
  const body = html`${welcome(appearance)}${open ? signInForm(form) : passwordsOff()}`;
  const status = problem === undefined ? 200 : 422;
  const headers = await formHeaders(context, returnTo);
  return showPage(services, session, { title: 'Sign in', body, status, headers });
}

async function signInResponse(context: PageContext, result: SignIn): Promise<HttpResponse> {
  const { services, session, field } = context;
  const returnTo = localPath(field('return_to'));
  if (result.kind === 'signed_in') {
    const headers = { 'set-cookie': sessionCookie(result.token, services.baseUrl()) };
    // Clients without a browser expect this status, which the public server gives.
    return { ...redirect(returnTo, headers), status: 302 };
  }
  if (result.kind === 'refused') return showSignIn(context, result.text);
  const body = secondStepForm({ ...result, returnTo });
  const status = result.wrong ? 422 : 200;
  const headers = await formHeaders(context, returnTo);
  return showPage(services, session, { title: 'Two-factor authentication', body, status, headers });
}

async function signIn(context: PageContext): Promise<HttpResponse> {
  const { services, settings, request, session, field } = context;
  if (!settings.password_authentication_enabled_for_web)
    return { ...(await showSignIn(context, undefined)), status: 403 };
  const attempt = { services, settings, origin: sessionOrigin(request), oldToken: session?.token };
  const challenge = field('challenge');
  return signInResponse(
    context,
    challenge === ''
      ? await signInWithPassword(attempt, field('login'), field('password'))
      : await signInWithCode(attempt, challenge, field('code')),
  );
}

async function leave(context: PageContext<Session>): Promise<HttpResponse> {
  const { db, services, settings, session } = context;
  await signOut(db, session.token);
  const headers = { 'set-cookie': noSessionCookie(services.baseUrl()) };
  const next = afterSignOut(settings.after_sign_out_path);
  if ('path' in next) return redirect(next.path, headers);
  // Every page has the form, and browsers apply its policy to redirects; a refresh is the page's own.
  const body = notice('Signed out', 'You are signed out.', { path: next.url, label: 'Go on' });
  return showPage(services, undefined, {
    title: 'Signed out',
    body,
    headers: { ...headers, refresh: `0; url=${next.url}` },
  });
}

/** Home, sign-in and sign-out. */
export const sessionPages: Page[] = [
  page({
    method: 'GET',
    path: '/',
    handle: async ({ services, session, settings }) => {
      const user = session && {
        ...session.actor,
        twoFactor: session.twoFactor,
        adminMode: session.adminMode,
      };
      const body = home({ user, duty: session && dutyText(session), signUp: signUpOpen(settings) });
      return showPage(services, session, { title: 'Home', body });
    },
  }),
  page({
    method: 'GET',
    path: '/users/sign_in',
    handle: async (context) => {
      const { session, field } = context;
      // An application may require that its user signs in again.
      const stays = session === undefined || field('reauthenticate') === '1';
      return stays ? showSignIn(context, undefined) : redirect(localPath(field('return_to')));
    },
  }),
  page({
    method: 'POST',
    path: '/users/sign_in',
    protected: true,
    whileOverdue: true,
    handle: signIn,
  }),
  sessionPage({ method: 'POST', path: '/users/sign_out', whileOverdue: true, handle: leave }),
  sessionPage({ method: 'DELETE', path: '/users/sign_out', whileOverdue: true, handle: leave }),
];
