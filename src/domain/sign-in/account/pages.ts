/** The pages on which users change their own sign-in: password and two-factor authentication. */

import { notice } from '../../../kernel/api/forms.ts';
import { localPath } from '../../../kernel/api/local-path.ts';
import {
  type Page,
  type PageContext,
  sessionPage,
  showPage,
  TWO_FACTOR_PATH,
  tokenField,
} from '../../../kernel/api/page.ts';
import { type Session, sessionCookie, sessionOrigin } from '../../../kernel/identity/sessions.ts';
import { base32, newTotpSecret, otpauthUri } from '../../../kernel/identity/two-factor/totp.ts';
import { now } from '../../../platform/clock.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { disableForm, enableForm, passwordForm, recoveryCodes } from '../forms/account-views.ts';
import { type Problem, problem } from '../forms/problems.ts';
import { dutyText } from '../sessions/session-pages.ts';
import { changePassword, disableTwoFactor, enableTwoFactor, openSetup, sealSetup } from './actions.ts';

type Context = PageContext<Session>;

const HOME = { path: '/', label: 'Go on' };
const statusOf = (problems: readonly Problem[]): number => (problems.length === 0 ? 200 : 422);

/** Whose sign-in an action changes. */
export const own = ({ services, settings, session, request }: Context) => ({
  services,
  settings,
  actor: session.actor,
  origin: sessionOrigin(request),
});

/** The session that the response goes on with, where the request's own has ended. */
const renewed = (session: Session, token: string): Session => ({ ...session, token });

function showPassword({ services, settings, session }: Context, problems: readonly Problem[]): HttpResponse {
  const token = tokenField(services, session);
  const body = passwordForm({
    token,
    username: session.actor.username,
    problems,
    minimum: settings.minimum_password_length,
  });
  return showPage(services, session, { title: 'Change password', body, status: statusOf(problems) });
}

async function postPassword(context: Context): Promise<HttpResponse> {
  const { services, session, field } = context;
  const result = await changePassword(own(context), {
    current: field('current_password'),
    password: field('password'),
    confirmation: field('password_confirmation'),
  });
  if ('problems' in result) return showPassword(context, result.problems);
  const body = notice(
    'Password changed',
    'Your password is changed. Your other sessions have ended, and applications that you let in must ask again.',
    HOME,
  );
  const headers = { 'set-cookie': sessionCookie(result.done, services.baseUrl()) };
  return showPage(services, renewed(session, result.done), { title: 'Password changed', body, headers });
}

/** The form to turn it on, with the key that it was begun with or a new one. */
function showEnable(
  { services, session, field }: Context,
  problems: readonly Problem[],
  key = newTotpSecret(),
): HttpResponse {
  const setup = sealSetup(services.secretKey, session.actor.id, key, now());
  const uri = otpauthUri(key, session.actor.username, new URL(services.baseUrl()).host);
  const form = {
    token: tokenField(services, session),
    setup,
    key: base32(key),
    uri,
    duty: dutyText(session),
    returnTo: localPath(field('return_to')),
    problems,
  };
  const body = enableForm(form);
  return showPage(services, session, {
    title: 'Two-factor authentication',
    body,
    status: statusOf(problems),
  });
}

function showDisable({ services, session }: Context, problems: readonly Problem[]): HttpResponse {
  const body = disableForm({ token: tokenField(services, session), problems });
  return showPage(services, session, {
    title: 'Two-factor authentication',
    body,
    status: statusOf(problems),
  });
}

async function postEnable(context: Context): Promise<HttpResponse> {
  const { services, session, field } = context;
  if (session.twoFactor) return showDisable(context, problem('Two-factor authentication is on already.'));
  const key = openSetup(services.secretKey, session.actor.id, field('setup'), now());
  if (!key) return showEnable(context, problem('This key is out of date. Add the new one to your app.'));
  const input = { key, code: field('code'), password: field('current_password') };
  const result = await enableTwoFactor(own(context), input);
  if ('problems' in result) return showEnable(context, result.problems, key);
  const { codes, token } = result.done;
  const headers = { 'set-cookie': sessionCookie(token, services.baseUrl()) };
  const body = recoveryCodes(codes, localPath(field('return_to')));
  return showPage(services, renewed(session, token), { title: 'Recovery codes', body, headers });
}

async function postDisable(context: Context): Promise<HttpResponse> {
  const { services, session, field } = context;
  if (!session.twoFactor) return showEnable(context, problem('Two-factor authentication is off already.'));
  const result = await disableTwoFactor(own(context), field('code'));
  if ('problems' in result) return showDisable(context, result.problems);
  const body = notice('Two-factor authentication', 'Two-factor authentication is off.', HOME);
  return showPage(services, session, { title: 'Two-factor authentication', body });
}

/** Password and two-factor authentication. */
export const accountPages: Page[] = [
  sessionPage({
    method: 'GET',
    path: '/-/profile/password',
    handle: async (context) => showPassword(context, []),
  }),
  sessionPage({ method: 'POST', path: '/-/profile/password', handle: postPassword }),
  sessionPage({
    method: 'GET',
    path: TWO_FACTOR_PATH,
    whileOverdue: true,
    handle: async (context) =>
      context.session.twoFactor ? showDisable(context, []) : showEnable(context, []),
  }),
  sessionPage({ method: 'POST', path: TWO_FACTOR_PATH, whileOverdue: true, handle: postEnable }),
  sessionPage({ method: 'POST', path: `${TWO_FACTOR_PATH}/disable`, handle: postDisable }),
];
