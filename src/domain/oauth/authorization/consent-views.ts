/** Views about an application that asks for access: the consent page, and the parts that the device page shares. */
import { card, hidden } from '../../../kernel/api/forms.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import type { Client } from '../protocol/queries.ts';
import { scopeMeanings } from '../protocol/scopes.ts';
import { OUT_OF_BAND } from './rules.ts';

const meanings: Readonly<Record<string, string>> = scopeMeanings;

/** The scopes in words, each with its name. */
export const scopeList = (scopes: readonly string[]): Html =>
  html`<ul>${scopes.map((scope) => html`<li>${meanings[scope] ?? scope} <code>${scope}</code></li>`)}</ul>`;

/** The browser's next address, so that a user who was lured sees it. */
function destination(redirectUri: string): Html {
  if (redirectUri === OUT_OF_BAND) return html`Afterwards this site shows a code for the application.`;
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:'
    ? html`Afterwards you are sent to <strong>${host}</strong>.`
    : html`Afterwards you are sent to the program on this device that opens <strong>${protocol}</strong> links.`;
}

/** Asks for consent to the application's request. */
export const consentForm = (form: {
  action: string;
  token: Html;
  /** The query of the request as it was sent: fields of their own would come back with other line ends. */
  request: string;
  /** The scopes as text, so that only they can be approved. */
  shown: string;
  client: Pick<Client, 'name' | 'dynamic'>;
  redirectUri: string;
  scopes: readonly string[];
  user: { name: string; username: string };
}): Html =>
  card(
    `Authorize “${form.client.name}”?`,
    html`<p>It asks to use your account, <strong>${form.user.name}</strong> (@${form.user.username}). It could:</p>
${scopeList(form.scopes)}`,
    form.client.dynamic &&
      html`<p class="note">This application registered itself, and nobody has verified it: its name may be made up. Authorize it
only if you have just started this from a program that you know.</p>`,
    html`<p>${destination(form.redirectUri)}</p>
<form method="post" action="${form.action}">
${form.token}${hidden('request', form.request)}${hidden('shown', form.shown)}
<div class="actions">
<button name="decision" value="approve">Authorize</button>
<button name="decision" value="deny" class="danger">Deny</button>
</div>
</form>`,
  );

/** The code of a client that cannot receive a redirect. */
export const codeNotice = (code: string): Html =>
  card(
    'Authorization code',
    html`<p>Copy this code into the application. It works once, for ten minutes. Give it to nobody else.</p>
<p class="key"><code>${code}</code></p>`,
  );
