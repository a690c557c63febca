/** The pages around links that were sent by mail, as HTML: the request for one, and its target. */
import { card, hidden, input, problemList } from '../../../kernel/api/forms.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { repeatedPasswordInput, usernameHint } from './account-views.ts';
import { isWrong, type Problem, texts } from './problems.ts';
import { newPasswordInput } from './views.ts';

/** The form for an address; it posts to the path. */
export const addressForm = (form: {
  title: string;
  text: string;
  path: string;
  next: { path: string; label: string };
}): Html =>
  card(
    form.title,
    html`<p>${form.text}</p>
<form method="post" action="${form.path}">
${input({ name: 'email', label: 'Email', type: 'email', autocomplete: 'email', focus: true })}
<button>Send the link</button>
</form>
<p class="aside"><a href="${form.next.path}">${form.next.label}</a></p>`,
  );

export const newPasswordForm = (form: {
  secret: string;
  username: string;
  problems: readonly Problem[];
  minimum: number;
}): Html =>
  card(
    'Set a new password',
    problemList(texts(form.problems)),
    html`<p>For the account <strong>@${form.username}</strong>. All its sessions end, and applications that were let in must
ask again.</p>
<form method="post" action="/users/password">
${hidden('reset_password_token', form.secret)}${usernameHint(form.username)}
${newPasswordInput('New password', form.minimum, { focus: true, wrong: isWrong(form.problems, 'password') })}
${repeatedPasswordInput(isWrong(form.problems, 'password_confirmation'))}
<button>Set password</button>
</form>`,
  );

/** A button, because programs that look for malware open every link of a mail, but press nothing. */
export const confirmForm = (form: { secret: string; email: string }): Html =>
  card(
    'Confirm your email address',
    html`<p>Do you read mail that is sent to <strong>${form.email}</strong>?</p>
<form method="post" action="/users/confirmation">
${hidden('confirmation_token', form.secret)}
<button>Confirm this address</button>
</form>`,
  );
