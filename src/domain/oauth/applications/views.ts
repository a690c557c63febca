/** The pages of applications, as HTML; inserted values are escaped by html``. */
import { checkbox, input, pageLinks, panel, problemList, textArea } from '../../../kernel/api/forms.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { applicationScopes, scopeMeanings } from '../protocol/scopes.ts';
import type { ApplicationRow, Authorization } from './actions.ts';

/** The pages of one owner's applications: their path and texts. */
export type ApplicationsPage = {
  /** The path of the list. */
  base: string;
  title: string;
  /** The text above the list. */
  about: string;
  /** Administrators mark applications of the instance as trusted. */
  mayTrust: boolean;
  /** Whether more can be registered here. */
  open: boolean;
};

const day = (time: Date): Html =>
  html`<time datetime="${time.toISOString()}">${time.toISOString().slice(0, 10)}</time>`;

const kindOf = (application: ApplicationRow): string => {
  const kind = application.confidential ? 'Confidential' : 'Public';
  if (application.dynamic) return `${kind}, registered itself`;
  return application.trusted ? `${kind}, trusted` : kind;
};

const applicationTable = (base: string, applications: readonly ApplicationRow[]): Html =>
  html`<table>
<thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Since</th></tr></thead>
<tbody>
${applications.map(
  (application) =>
    html`<tr><td><a href="${base}/${application.id}">${application.name}</a></td><td>${kindOf(application)}</td><td>${day(application.created_at)}</td></tr>`,
)}
</tbody>
</table>`;

/** The applications of one owner, and below them the user's authorizations, where there are any to show. */
export const applicationList = (
  page: ApplicationsPage,
  view: { applications: readonly ApplicationRow[]; page: number; more: boolean; authorized?: Html },
): Html =>
  panel(
    page.title,
    html`<p>${page.about}</p>`,
    view.applications.length === 0
      ? html`<p>There are none yet.</p>`
      : applicationTable(page.base, view.applications),
    pageLinks(page.base, view.page, view.more),
    page.open
      ? html`<p class="actions"><a href="${page.base}/new">Register an application</a></p>`
      : html`<p class="note">Registering applications is turned off on this site.</p>`,
    view.authorized,
  );

/** A user's authorizations, each with a button that revokes it. */
export const authorizationList = (
  base: string,
  token: Html,
  authorizations: readonly Authorization[],
): Html => {
  const entry = (one: Authorization) => {
    const name = one.name ?? 'Sign-in with your password, by a program that did not say its name';
    return html`<li>
<div><strong>${name}</strong>
<p class="hint">Since ${day(one.since)}. ${one.scopes.map((scope) => html`<code>${scope}</code> `)}</p></div>
<form method="post" action="${base}/authorized/${one.application_id ?? 'password'}/revoke">${token}
<button class="danger" aria-label="Revoke ${name}">Revoke</button></form>
</li>`;
  };
  return html`<h2 id="authorized">Applications that you authorised</h2>
${
  authorizations.length === 0
    ? html`<p class="hint">You have not authorised any application.</p>`
    : html`<ul class="rows" aria-labelledby="authorized">${authorizations.map(entry)}</ul>`
}`;
};

/** The values of the form: of an application, or as they were sent. */
export type FormValues = {
  name: string;
  redirectUris: string;
  scopes: readonly string[];
  confidential: boolean;
  trusted: boolean;
};

export const emptyForm: FormValues = {
  name: '',
  redirectUris: '',
  scopes: [],
  confidential: true,
  trusted: false,
};

const scopeField = (scope: string): string => `scope_${scope}`;

/** The scopes that are ticked in a form that was sent. */
export const tickedScopes = (field: (name: string) => string): string[] =>
  applicationScopes.filter((scope) => field(scopeField(scope)) === '1');

/** The form to register an application, or to change the one that is named. */
export const applicationForm = (
  page: ApplicationsPage,
  form: { token: Html; values: FormValues; problems: readonly string[]; application?: ApplicationRow },
): Html => {
  const { token, values, problems, application } = form;
  const back = application ? `${page.base}/${application.id}` : page.base;
  return panel(
    application ? `Edit ${application.name}` : 'Register an application',
    problemList(problems),
    application &&
      html`<p class="note">Who authorised a scope or an address that you take away must authorise the application again, and
everybody must when it stops being confidential.</p>`,
    html`<form method="post" action="${back}">
${token}
${input({ name: 'name', label: 'Name', value: values.name, autocomplete: 'off', hint: 'Those who authorise it see this name.', focus: problems.length === 0 })}
${textArea({
  name: 'redirect_uri',
  label: 'Redirect URIs',
  value: values.redirectUris,
  rows: 4,
  hint: 'One a line; each is compared letter by letter. HTTPS, an own scheme of a native app, or plain HTTP to this computer (127.0.0.1, [::1], localhost).',
})}
${checkbox({
  name: 'confidential',
  label: 'Confidential',
  checked: values.confidential,
  hint: 'It runs where its secret stays secret, such as on a server. Native and browser apps are not confidential, and must use PKCE.',
})}
${
  page.mayTrust &&
  checkbox({
    name: 'trusted',
    label: 'Trusted',
    checked: values.trusted,
    hint: 'Users are not asked for their consent.',
  })
}
<fieldset>
<legend>Scopes</legend>
${applicationScopes.map((scope) =>
  checkbox({
    name: scopeField(scope),
    label: scope,
    checked: values.scopes.includes(scope),
    hint: scopeMeanings[scope],
  }),
)}
</fieldset>
<button>${application ? 'Save' : 'Register'}</button>
</form>
<p class="aside"><a href="${back}">Back</a></p>`,
  );
};

/** A button that asks twice: opened first, then pressed. */
const guarded = (action: { path: string; token: Html; label: string; warning: string }): Html =>
  html`<details>
<summary>${action.label}</summary>
<p>${action.warning}</p>
<form method="post" action="${action.path}">${action.token}<button class="danger">${action.label}</button></form>
</details>`;

/** One application, with its secret just after it was made. */
export const applicationDetails = (
  page: ApplicationsPage,
  view: { token: Html; application: ApplicationRow; secret?: string },
): Html => {
  const { token, application, secret } = view;
  const path = `${page.base}/${application.id}`;
  return panel(
    application.name,
    secret !== undefined &&
      html`<div class="note" role="status"><p>This is the secret. Keep it in a safe place: it is not shown again.</p>
<p class="key"><code id="secret">${secret}</code></p></div>`,
    html`<dl>
<dt>Application ID</dt><dd><code id="application_id">${application.uid}</code></dd>
<dt>Kind</dt><dd>${kindOf(application)}</dd>
<dt>Redirect URIs</dt>${application.redirect_uris.map((uri) => html`<dd><code>${uri}</code></dd>`)}
<dt>Scopes</dt>${application.scopes.map((scope) => html`<dd><code>${scope}</code></dd>`)}
</dl>`,
    !application.dynamic && html`<p class="actions"><a href="${path}/edit">Edit</a></p>`,
    !application.dynamic &&
      guarded({
        path: `${path}/renew`,
        token,
        label: 'Renew secret',
        warning: 'The present secret stops working at once. What users authorised goes on.',
      }),
    guarded({
      path: `${path}/delete`,
      token,
      label: 'Delete application',
      warning: 'Every token that was given for it stops working at once.',
    }),
    html`<p class="aside"><a href="${page.base}">All applications</a></p>`,
  );
};
