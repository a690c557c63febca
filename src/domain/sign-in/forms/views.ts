/**
 * The forms and texts of signing in, signing out and registering, as HTML; inserted values are escaped by
 * html``.
 */
import { card, hidden, input, problemList } from '../../../kernel/api/forms.ts';
import { ADMIN_MODE_PATH } from '../../../kernel/api/page.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { isWrong, type Problem, texts } from './problems.ts';

/** The field for a code of an authenticator app. */
export const codeInput = (label: string, hint: string, state: { focus?: boolean; wrong: boolean }): Html =>
  input({ name: 'code', label, autocomplete: 'one-time-code', hint, ...state });

/** The field for a new password. */
export const newPasswordInput = (
  label: string,
  minimum: number,
  state: { focus?: boolean; wrong: boolean },
): Html =>
  input({
    name: 'password',
    label,
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${minimum} characters.`,
    ...state,
  });

export const signInForm = (form: {
  problem: string | undefined;
  /** The address is not confirmed: another link may help. */
  unconfirmed: boolean;
  login: string;
  returnTo: string;
  signUp: boolean;
}): Html => {
  const wrong = form.problem !== undefined && !form.unconfirmed;
  return card(
    'Sign in',
    problemList(form.problem === undefined ? [] : [form.problem]),
    form.unconfirmed && html`<p><a href="/users/confirmation/new">Send the confirmation mail again</a></p>`,
    html`<form method="post" action="/users/sign_in">
${hidden('return_to', form.returnTo)}
${input({ name: 'login', label: 'Username or email', value: form.login, autocomplete: 'username', focus: form.login === '', wrong })}
${input({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', focus: form.login !== '', wrong })}
<button>Sign in</button>
</form>
<p class="aside"><a href="/users/password/new">Forgot your password?</a></p>`,
    form.signUp && html`<p class="aside">No account yet? <a href="/users/sign_up">Register</a></p>`,
  );
};

export const passwordsOff = (): Html =>
  card('Sign in', html`<p class="note">Signing in with a password is turned off on this site.</p>`);

export const secondStepForm = (form: { challenge: string; returnTo: string; wrong: boolean }): Html =>
  card(
    'Two-factor authentication',
    problemList(form.wrong ? ['Invalid two-factor code.'] : []),
    html`<form method="post" action="/users/sign_in">
${hidden('return_to', form.returnTo)}${hidden('challenge', form.challenge)}
${codeInput('Code', 'The six digits that your authenticator app shows, or one of your recovery codes.', { focus: true, wrong: form.wrong })}
<button>Verify</button>
</form>
<p class="aside"><a href="/users/sign_in">Start again</a></p>`,
  );

export const signUpForm = (form: {
  problems: readonly Problem[];
  values: { name: string; username: string; email: string };
  minimumPassword: number;
}): Html => {
  const wrong = (field: string) => isWrong(form.problems, field);
  const { name, username, email } = form.values;
  return card(
    'Register',
    problemList(texts(form.problems)),
    html`<form method="post" action="/users">
${input({ name: 'name', label: 'Name', value: name, autocomplete: 'name', focus: true, wrong: wrong('name') })}
${input({ name: 'username', label: 'Username', value: username, autocomplete: 'username', wrong: wrong('username') })}
${input({ name: 'email', label: 'Email', type: 'email', value: email, autocomplete: 'email', wrong: wrong('email') })}
${newPasswordInput('Password', form.minimumPassword, { wrong: wrong('password') })}
<button>Register</button>
</form>
<p class="aside">You have an account? <a href="/users/sign_in">Sign in</a></p>`,
  );
};

/** The user's own pages, by their paths. */
type Own = { twoFactor: boolean; admin: boolean; adminMode: boolean | undefined };

const ownPages = (user: Own): Html => html`
<li><a href="/-/profile/password">Change password</a></li>
<li><a href="/-/profile/two_factor_auth">Two-factor authentication</a> is ${user.twoFactor ? 'on' : 'off'}</li>
<li><a href="/-/profile/active_sessions">Active sessions</a></li>
<li><a href="/-/profile/invitations">Invitations</a></li>
<li><a href="/-/profile/notifications">Notifications</a></li>
<li><a href="/-/profile/applications">Applications</a></li>
${user.adminMode !== undefined && html`<li><a href="${ADMIN_MODE_PATH}">${user.adminMode ? 'Leave admin mode' : 'Enter admin mode'}</a></li>`}
${user.admin && html`<li><a href="/admin">Administration</a></li>`}`;

export const home = (view: {
  user: (Own & { name: string; username: string }) | undefined;
  duty: string | undefined;
  signUp: boolean;
}): Html => {
  const { user } = view;
  const links = user
    ? ownPages(user)
    : html`<li><a href="/users/sign_in">Sign in</a></li>
${view.signUp && html`<li><a href="/users/sign_up">Register</a></li>`}`;
  return card(
    'Ashlar',
    view.duty !== undefined &&
      html`<p class="note">${view.duty} <a href="/-/profile/two_factor_auth">Set it up</a></p>`,
    user
      ? html`<p>Signed in as <strong>${user.name}</strong> (@${user.username}).</p>`
      : html`<p>A software-development platform that speaks the REST API version 4.</p>`,
    html`<ul>
${links}
<li><a href="/api/docs">API documentation</a></li>
</ul>`,
  );
};
