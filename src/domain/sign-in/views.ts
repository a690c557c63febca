/** The forms and texts of the pages, as HTML; what is put into them is escaped by html``. */
import { type Html, html } from '../../platform/http/html.ts';

type Input = {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'email';
  value?: string;
  autocomplete: string;
  hint?: string;
  focus?: boolean;
};

/** A labelled field; its hint is read out with it. */
const input = ({
  name,
  label,
  type = 'text',
  value = '',
  autocomplete,
  hint,
  focus,
}: Input): Html => html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}" required${
  type !== 'password' && html` autocapitalize="none" spellcheck="false"`
}${focus && html` autofocus`}${hint !== undefined && html` aria-describedby="${name}_hint"`}>
${hint !== undefined && html`<p class="hint" id="${name}_hint">${hint}</p>`}
</div>`;

const codeInput = (label: string, hint: string, focus = false): Html =>
  input({ name: 'code', label, autocomplete: 'one-time-code', hint, focus });

/** What went wrong, announced as soon as the page is there. */
export const problemList = (problems: readonly string[]): Html | undefined => {
  if (problems.length === 0) return undefined;
  const [only, ...others] = problems;
  const text = others.length === 0 ? only : html`<ul>${problems.map((text) => html`<li>${text}</li>`)}</ul>`;
  return html`<div class="message" role="alert">${text}</div>`;
};

const card = (title: string, ...content: (Html | undefined | false)[]): Html =>
  html`<div class="card">
<h1>${title}</h1>
${content}
</div>`;

const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

/** Where to go on, in words: for pages without a form. */
export const notice = (title: string, text: string, next: { path: string; label: string }): Html =>
  card(title, html`<p>${text}</p><p class="aside"><a href="${next.path}">${next.label}</a></p>`);

export const signInForm = (form: {
  problem: string | undefined;
  login: string;
  returnTo: string;
  signUp: boolean;
}): Html =>
  card(
    'Sign in',
    problemList(form.problem === undefined ? [] : [form.problem]),
    html`<form method="post" action="/users/sign_in">
${hidden('return_to', form.returnTo)}
${input({ name: 'login', label: 'Username or email', value: form.login, autocomplete: 'username', focus: form.login === '' })}
${input({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', focus: form.login !== '' })}
<button>Sign in</button>
</form>`,
    form.signUp && html`<p class="aside">No account yet? <a href="/users/sign_up">Register</a></p>`,
  );

export const passwordsOff = (): Html =>
  card('Sign in', html`<p class="note">Signing in with a password is turned off on this site.</p>`);

export const secondStepForm = (form: { challenge: string; returnTo: string; wrong: boolean }): Html =>
  card(
    'Two-factor authentication',
    problemList(form.wrong ? ['Invalid two-factor code.'] : []),
    html`<form method="post" action="/users/sign_in">
${hidden('return_to', form.returnTo)}${hidden('challenge', form.challenge)}
${codeInput('Code', 'The six digits that your authenticator app shows, or one of your recovery codes.', true)}
<button>Verify</button>
</form>
<p class="aside"><a href="/users/sign_in">Start again</a></p>`,
  );

export const signUpForm = (form: {
  problems: readonly string[];
  values: { name: string; username: string; email: string };
  minimumPassword: number;
}): Html =>
  card(
    'Register',
    problemList(form.problems),
    html`<form method="post" action="/users">
${input({ name: 'name', label: 'Name', value: form.values.name, autocomplete: 'name', focus: true })}
${input({ name: 'username', label: 'Username', value: form.values.username, autocomplete: 'username' })}
${input({ name: 'email', label: 'Email', type: 'email', value: form.values.email, autocomplete: 'email' })}
${input({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'new-password',
  hint: `At least ${form.minimumPassword} characters.`,
})}
<button>Register</button>
</form>
<p class="aside">You have an account? <a href="/users/sign_in">Sign in</a></p>`,
  );

export const passwordForm = (form: { token: Html; problems: readonly string[]; minimum: number }): Html =>
  card(
    'Change password',
    problemList(form.problems),
    html`<form method="post" action="/-/profile/password">
${form.token}
${input({ name: 'current_password', label: 'Current password', type: 'password', autocomplete: 'current-password', focus: true })}
${input({
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint: `At least ${form.minimum} characters.`,
})}
${input({ name: 'password_confirmation', label: 'New password again', type: 'password', autocomplete: 'new-password' })}
<button>Change password</button>
</form>
<p class="aside">Every other session of yours ends. Access tokens go on.</p>`,
  );

/** The key in groups of four, for eyes and fingers. */
const grouped = (key: string): string => key.match(/.{1,4}/g)?.join(' ') ?? key;

export const enableForm = (form: {
  token: Html;
  setup: string;
  key: string;
  uri: string;
  duty: string | undefined;
  problems: readonly string[];
}): Html =>
  card(
    'Two-factor authentication',
    form.duty !== undefined && html`<p class="note">${form.duty}</p>`,
    problemList(form.problems),
    html`<ol>
<li>Add this key to an authenticator app: <a href="${form.uri}">open the app</a> on this device, or type the key.
<p class="key"><code>${grouped(form.key)}</code></p>
<details><summary>As an address</summary><p><code>${form.uri}</code></p></details></li>
<li>Enter the code that the app shows now.</li>
</ol>
<form method="post" action="/-/profile/two_factor_auth">
${form.token}${hidden('setup', form.setup)}
${codeInput('Code', 'Six digits, new every 30 seconds.')}
${input({ name: 'current_password', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
<button>Turn on</button>
</form>`,
  );

export const disableForm = (form: { token: Html; problems: readonly string[] }): Html =>
  card(
    'Two-factor authentication',
    problemList(form.problems),
    html`<p>Two-factor authentication is on. To turn it off, enter a code of your app, or a recovery code.</p>
<form method="post" action="/-/profile/two_factor_auth/disable">
${form.token}
${codeInput('Code', 'Without it, a password is all that signing in takes.')}
<button>Turn off</button>
</form>`,
  );

export const recoveryCodes = (codes: readonly string[]): Html =>
  card(
    'Recovery codes',
    html`<p class="note">Two-factor authentication is on. Keep these codes in a safe place: each signs you in once when you do
not have your app. They are not shown again.</p>
<ul class="codes">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<p class="aside"><a href="/">I have kept them</a></p>`,
  );

export const home = (view: {
  user: { name: string; username: string; twoFactor: boolean } | undefined;
  duty: string | undefined;
  signUp: boolean;
}): Html => {
  const { user } = view;
  const links = user
    ? html`<li><a href="/-/profile/password">Change password</a></li>
<li><a href="/-/profile/two_factor_auth">Two-factor authentication</a> is ${user.twoFactor ? 'on' : 'off'}</li>`
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
<li><a href="/api/docs">API documentation</a></li>
${links}
</ul>`,
  );
};
