/** The forms and texts of the device pages, as HTML; inserted values are escaped by html``. */
import { card, hidden, input, problemList } from '../../../kernel/api/forms.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { scopeList } from '../authorization/consent-views.ts';

const END = html`<p>You can close this page.</p>`;

/** Asks for the code that the device shows. */
export const codeForm = (form: {
  action: string;
  token: Html;
  code: string;
  problem: string | undefined;
}): Html =>
  card(
    'Connect a device',
    problemList(form.problem === undefined ? [] : [form.problem]),
    html`<form method="post" action="${form.action}">
${form.token}
${input({
  name: 'user_code',
  label: 'Code',
  value: form.code,
  autocomplete: 'off',
  hint: 'The eight letters that your device shows.',
  focus: true,
  wrong: form.problem !== undefined,
})}
<button>Continue</button>
</form>`,
  );

/** Shows the device's request, to be approved or denied. */
export const decisionForm = (form: {
  action: string;
  token: Html;
  code: string;
  application: string;
  scopes: readonly string[];
  user: { name: string; username: string };
}): Html =>
  card(
    `Connect “${form.application}”?`,
    html`<p>A device that shows the code <strong><code>${form.code}</code></strong> asks to use your account,
<strong>${form.user.name}</strong> (@${form.user.username}). It could:</p>
${scopeList(form.scopes)}
<p class="note">Approve only if the device is yours and shows this code now. If somebody sent you the code, or a link to this
page, deny: they would get into your account.</p>
<form method="post" action="${form.action}">
${form.token}${hidden('user_code', form.code)}
<div class="actions">
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny" class="danger">Deny</button>
</div>
</form>`,
  );

/** The reason why the user cannot give the device's scopes. */
export const rejectedNotice = (application: string, problem: string): Html =>
  card(`“${application}” cannot be connected`, problemList([problem]), END);

/** The decision. */
export const decidedNotice = (application: string, approved: boolean): Html =>
  approved
    ? card(
        'Device connected',
        html`<p>“${application}” is connected to your account. Continue on the device.</p>`,
        END,
      )
    : card('Request denied', html`<p>“${application}” was not connected to your account.</p>`, END);
