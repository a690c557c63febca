/** The pages of coming and going: home, sign in, sign out. */

import { notice } from '../../core/forms.ts';
import { UNCONFIRMED } from '../../core/identity/login-rules.ts';
import { noSessionCookie, type Session, sessionCookie, sessionOrigin } from '../../core/identity/sessions.ts';
import { type PageContext, page, redirect, sessionPage, showPage } from '../../core/page.ts';
import type { Services } from '../../core/services.ts';
import type { Answer } from '../../platform/http/answer.ts';
import type { Route } from '../../platform/http/server.ts';
import { type SignIn, signInWithCode, signInWithPassword, signOut } from './actions.ts';
import { afterSignOut, leadsAway, localPath, signUpOpen } from './rules.ts';
import { home, passwordsOff, secondStepForm, signInForm } from './views.ts';

/** What is said to somebody who must still set up two-factor authentication. */
export function dutyText(session: Session): string | undefined {
  const { duty } = session;
  if (duty.kind === 'none') return undefined;
  if (duty.kind === 'overdue') return 'You must set up two-factor authentication before you can go on.';
  return `You must set up two-factor authentication before ${duty.until.toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
}

function showSignIn(context: PageContext, problem: string | undefined): Answer {
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
  const body = open ? signInForm(form) : passwordsOff();
  return showPage(services, session, { title: 'Sign in', body, status: problem === undefined ? 200 : 422 });
}

/** Browsers hold what a form redirects to, at the end of any chain, to this site; a refresh is the page's own. */
function goOn(
  services: Services,
  title: string,
  text: string,
  url: string,
  headers: Record<string, string>,
): Answer {
  const body = notice(title, text, { path: url, label: 'Go on' });
  return showPage(services, undefined, { title, body, headers: { ...headers, refresh: `0; url=${url}` } });
}

function answerSignIn(context: PageContext, result: SignIn): Answer {
  const { services, session, field } = context;
  const returnTo = localPath(field('return_to'));
  if (result.kind === 'signed_in') {
    const headers = { 'set-cookie': sessionCookie(result.token, services.baseUrl()) };
    return leadsAway(returnTo)
      ? goOn(services, 'Signed in', 'You are signed in.', returnTo, headers)
      : redirect(returnTo, headers);
  }
  if (result.kind === 'refused') return showSignIn(context, result.text);
  const body = secondStepForm({ ...result, returnTo });
  const status = result.wrong ? 422 : 200;
  return showPage(services, session, { title: 'Two-factor authentication', body, status });
}

async function signIn(context: PageContext): Promise<Answer> {
  const { services, settings, request, session, field } = context;
  if (!settings.password_authentication_enabled_for_web)
    return { ...showSignIn(context, undefined), status: 403 };
  const attempt = { services, settings, origin: sessionOrigin(request), oldToken: session?.token };
  const challenge = field('challenge');
  return answerSignIn(
    context,
    challenge === ''
      ? await signInWithPassword(attempt, field('login'), field('password'))
      : await signInWithCode(attempt, challenge, field('code')),
  );
}

async function leave(context: PageContext<Session>): Promise<Answer> {
  const { db, services, settings, session } = context;
  await signOut(db, session.token);
  const headers = { 'set-cookie': noSessionCookie(services.baseUrl()) };
  const next = afterSignOut(settings.after_sign_out_path);
  if ('path' in next) return redirect(next.path, headers);
  return goOn(services, 'Signed out', 'You are signed out.', next.url, headers);
}

/** Home, sign-in and sign-out. */
export const sessionPages = (services: Services): Route[] => [
  page(services, {
    method: 'GET',
    path: '/',
    handle: async ({ session, settings }) => {
      const user = session && { ...session.actor, twoFactor: session.twoFactor };
      const body = home({ user, duty: session && dutyText(session), signUp: signUpOpen(settings) });
      return showPage(services, session, { title: 'Home', body });
    },
  }),
  page(services, {
    method: 'GET',
    path: '/users/sign_in',
    handle: async (context) => {
      const { session, field } = context;
      // An application may want its user to prove again who they are.
      const stays = session === undefined || field('reauthenticate') === '1';
      return stays ? showSignIn(context, undefined) : redirect(localPath(field('return_to')));
    },
  }),
  page(services, {
    method: 'POST',
    path: '/users/sign_in',
    protected: true,
    whileOverdue: true,
    handle: signIn,
  }),
  sessionPage(services, { method: 'POST', path: '/users/sign_out', whileOverdue: true, handle: leave }),
  sessionPage(services, { method: 'DELETE', path: '/users/sign_out', whileOverdue: true, handle: leave }),
];
