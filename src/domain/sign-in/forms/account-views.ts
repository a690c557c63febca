/** The forms on which users change their own sign-in, as HTML. */
import { card, hidden, input, problemList } from '../../../kernel/api/forms.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { isWrong, type Problem, texts } from './problems.ts';
import { qrCode } from './qr-code.ts';
import { codeInput, newPasswordInput } from './views.ts';

const currentPassword = (state: { focus?: boolean; wrong: boolean }): Html =>
  input({
    name: 'current_password',
    label: 'Current password',
    type: 'password',
    autocomplete: 'current-password',
    ...state,
  });

/** The username for the password, for programs that keep passwords. */
export const usernameHint = (username: string): Html =>
  html`<input name="username" value="${username}" autocomplete="username" hidden>`;

/** The field for a new password once more. */
export const repeatedPasswordInput = (wrong: boolean): Html =>
  input({
    name: 'password_confirmation',
    label: 'New password again',
    type: 'password',
    autocomplete: 'new-password',
    wrong,
  });

export const passwordForm = (form: {
  token: Html;
  username: string;
  problems: readonly Problem[];
  minimum: number;
}): Html => {
  const wrong = (field: string) => isWrong(form.problems, field);
  return card(
    'Change password',
    problemList(texts(form.problems)),
    html`<form method="post" action="/-/profile/password">
${form.token}${usernameHint(form.username)}
${currentPassword({ focus: true, wrong: wrong('current_password') })}
${newPasswordInput('New password', form.minimum, { wrong: wrong('password') })}
${repeatedPasswordInput(wrong('password_confirmation'))}
<button>Change password</button>
</form>
<p class="aside">Your other sessions end, and applications that you let in must ask again. Access tokens that you made
go on.</p>`,
  );
};

/** The key in groups of four, easier to read and to type. */
const grouped = (key: string): string => key.match(/.{1,4}/g)?.join(' ') ?? key;

export const enableForm = (form: {
  token: Html;
  setup: string;
  key: string;
  uri: string;
  returnTo: string;
  duty: string | undefined;
  problems: readonly Problem[];
}): Html => {
  const wrong = (field: string) => isWrong(form.problems, field);
  return card(
    'Two-factor authentication',
    form.duty !== undefined && html`<p class="note">${form.duty}</p>`,
    problemList(texts(form.problems)),
    html`<ol>
<li>Scan this code with an authenticator app, <a href="${form.uri}">open the app</a> on this device, or type the key.
${qrCode(form.uri, 'QR code of the key that stands below it')}
<p class="key"><code>${grouped(form.key)}</code></p>
<details><summary>As an address</summary><p><code>${form.uri}</code></p></details></li>
<li>Enter the code that the app shows now.</li>
</ol>
<form method="post" action="/-/profile/two_factor_auth">
${form.token}${hidden('setup', form.setup)}${hidden('return_to', form.returnTo)}
${codeInput('Code', 'Six digits, new every 30 seconds.', { wrong: wrong('code') })}
${currentPassword({ wrong: wrong('current_password') })}
<button>Turn on</button>
</form>`,
  );
};

export const disableForm = (form: { token: Html; problems: readonly Problem[] }): Html =>
  card(
    'Two-factor authentication',
    problemList(texts(form.problems)),
    html`<p>Two-factor authentication is on. To turn it off, enter a code of your app, or a recovery code.</p>
<form method="post" action="/-/profile/two_factor_auth/disable">
${form.token}
${codeInput('Code', 'Without it, a password is all that signing in takes.', { wrong: isWrong(form.problems, 'code') })}
<button>Turn off</button>
</form>`,
  );

export const adminModeForm = (form: {
  token: Html;
  username: string;
  twoFactor: boolean;
  returnTo: string;
  problems: readonly Problem[];
}): Html =>
  card(
    'Enter admin mode',
    problemList(texts(form.problems)),
    html`<form method="post" action="/admin/session">
${form.token}${usernameHint(form.username)}${hidden('return_to', form.returnTo)}
${currentPassword({ focus: true, wrong: isWrong(form.problems, 'current_password') })}
${form.twoFactor && codeInput('Code', 'Of your app, or a recovery code.', { wrong: isWrong(form.problems, 'code') })}
<button>Enter admin mode</button>
</form>
<p class="aside">For six hours, this session has the rights of an administrator. Without it you may do what your memberships
allow.</p>`,
  );

export const leaveAdminModeForm = (token: Html): Html =>
  card(
    'Admin mode',
    html`<p>This session has the rights of an administrator.</p>
<form method="post" action="/admin/session/destroy">
${token}
<button>Leave admin mode</button>
</form>`,
  );

export const recoveryCodes = (codes: readonly string[], returnTo: string): Html =>
  card(
    'Recovery codes',
    html`<p class="note">Two-factor authentication is on. Keep these codes in a safe place: each signs you in once when you do
not have your app. They are not shown again.</p>
<ul class="codes">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<p class="aside"><a href="${returnTo}">I have kept them</a></p>`,
  );
