/** The pages of registering. */

import { notice } from '../../../kernel/api/forms.ts';
import { welcome } from '../../../kernel/api/layout.ts';
import { type Page, type PageContext, page, redirect, showPage } from '../../../kernel/api/page.ts';
import { sessionCookie, sessionOrigin } from '../../../kernel/identity/sessions.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html } from '../../../platform/http/pages/html.ts';
import { type Problem, problem } from '../forms/problems.ts';
import { signUpForm } from '../forms/views.ts';
import { signUpOpen } from '../sessions/rules.ts';
import { signUp } from './actions.ts';

const SIGN_IN = { path: '/users/sign_in', label: 'Sign in' };

async function showSignUp(context: PageContext, problems: readonly Problem[]): Promise<HttpResponse> {
  const { services, settings, session, field } = context;
  const values = { name: field('name'), username: field('username'), email: field('email') };
  const form = signUpForm({ problems, values, minimumPassword: settings.minimum_password_length });
  const body = html`${welcome((await services.instance.read()).appearance)}${form}`;
  return showPage(services, session, { title: 'Register', body, status: problems.length === 0 ? 200 : 422 });
}

function showClosed({ services, session }: PageContext): HttpResponse {
  const body = notice('Register', 'Registration is closed on this site.', SIGN_IN);
  return showPage(services, session, { title: 'Register', body, status: 403 });
}

async function register(context: PageContext): Promise<HttpResponse> {
  const { services, settings, session, request, field } = context;
  if (!signUpOpen(settings)) return showClosed(context);
  if (settings.maintenance_mode)
    return showSignUp(context, problem(settings.maintenance_mode_message || 'Try again later.'));
  const input = {
    name: field('name'),
    username: field('username'),
    email: field('email').trim(),
    password: field('password'),
  };
  const browser = { origin: sessionOrigin(request), oldToken: session?.token };
  const result = await signUp(services, settings, input, browser);
  if (result.kind === 'problems') return showSignUp(context, result.problems);
  if (result.kind === 'signed_in') {
    return redirect('/', { 'set-cookie': sessionCookie(result.token, services.baseUrl()) });
  }
  const more = settings.after_sign_up_text.split(/\n\s*\n/).filter((text) => text.trim() !== '');
  const body = notice('You are registered', [result.text, ...more], SIGN_IN);
  return showPage(services, session, { title: 'Registered', body, status: 201 });
}

/** Registration. */
export const signUpPages: Page[] = [
  page({
    method: 'GET',
    path: '/users/sign_up',
    handle: async (context) => {
      if (context.session) return redirect('/');
      return signUpOpen(context.settings) ? showSignUp(context, []) : showClosed(context);
    },
  }),
  page({ method: 'GET', path: '/users', handle: async () => redirect('/users/sign_up') }),
  page({ method: 'POST', path: '/users', protected: true, handle: register }),
];
