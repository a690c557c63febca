/** The pages for a forgotten password. */
import { notice } from '../../../kernel/api/forms.ts';
import { type Page, type PageContext, page, showPage } from '../../../kernel/api/page.ts';
import { RESET_HOURS } from '../../../kernel/identity/passwords/reset-actions.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { addressForm, newPasswordForm } from '../forms/mail-views.ts';
import type { Problem } from '../forms/problems.ts';
import { passwordsOff } from '../forms/views.ts';
import { askByMail } from './ask-by-mail.ts';
import { findReset, RESET_REQUESTED, resetPassword } from './reset-actions.ts';

const TITLE = 'Set a new password';
const ASK_PATH = '/users/password/new';
const SIGN_IN = { path: '/users/sign_in', label: 'Sign in' };
const HOME = { path: '/', label: 'Go on' };

/** The address of the page has the secret: no other site gets it. */
const NO_REFERRER = { 'referrer-policy': 'same-origin' };

/** A page that exists while users can sign in with passwords. */
const whilePasswordsAreOn =
  (handle: (context: PageContext) => Promise<HttpResponse>) =>
  async (context: PageContext): Promise<HttpResponse> => {
    const { services, session, settings } = context;
    if (settings.password_authentication_enabled_for_web) return handle(context);
    return showPage(services, session, { title: 'Sign in', body: passwordsOff(), status: 403 });
  };

async function showAsk({ services, session }: PageContext): Promise<HttpResponse> {
  const text = 'Give the address of your account, and a mail brings a link that sets a new password.';
  const body = addressForm({ title: TITLE, text, path: ASK_PATH, next: session ? HOME : SIGN_IN });
  return showPage(services, session, { title: TITLE, body });
}

async function ask({ services, session, field }: PageContext): Promise<HttpResponse> {
  await askByMail(services, RESET_REQUESTED, field('email'));
  const text = `If an account here has this address and signs in with a password, a mail is on its way to it. Its link is good for ${RESET_HOURS} hours.`;
  return showPage(services, session, {
    title: TITLE,
    body: notice('Check your mail', text, session ? HOME : SIGN_IN),
  });
}

function showStale({ services, session }: PageContext): HttpResponse {
  const text = 'This link is not valid: it was used before, is too old, or a newer one was sent.';
  const body = notice(TITLE, text, { path: ASK_PATH, label: 'Send another link' });
  return showPage(services, session, { title: TITLE, body, status: 422 });
}

async function showEdit(context: PageContext, problems: readonly Problem[]): Promise<HttpResponse> {
  const { db, services, session, settings, field } = context;
  const secret = field('reset_password_token');
  const user = await findReset(db, secret);
  if (!user) return showStale(context);
  const minimum = settings.minimum_password_length;
  const body = newPasswordForm({ secret, username: user.username, problems, minimum });
  const status = problems.length === 0 ? 200 : 422;
  return showPage(services, session, { title: TITLE, body, status, headers: NO_REFERRER });
}

async function reset(context: PageContext): Promise<HttpResponse> {
  const { services, session, settings, field } = context;
  const result = await resetPassword(services, settings, field('reset_password_token'), {
    password: field('password'),
    confirmation: field('password_confirmation'),
  });
  if (result.kind === 'stale') return showStale(context);
  if (result.kind === 'problems') return showEdit(context, result.problems);
  const left = session?.actor.id === result.userId ? undefined : session;
  const body = notice('Password set', 'Your new password is set. Sign in with it.', SIGN_IN);
  return showPage(services, left, { title: 'Password set', body });
}

/** The request for a link, and the form that it leads to. */
export const resetPages: Page[] = [
  page({ method: 'GET', path: ASK_PATH, handle: whilePasswordsAreOn(showAsk) }),
  page({ method: 'POST', path: ASK_PATH, protected: true, handle: whilePasswordsAreOn(ask) }),
  page({
    method: 'GET',
    path: '/users/password/edit',
    whileOverdue: true,
    handle: whilePasswordsAreOn((context) => showEdit(context, [])),
  }),
  page({
    method: 'POST',
    path: '/users/password',
    protected: true,
    whileOverdue: true,
    handle: whilePasswordsAreOn(reset),
  }),
];
