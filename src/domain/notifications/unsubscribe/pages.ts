/** Pages of unsubscribe links: a form that asks, and its POST, which mail programs also send as one click. */
import { card } from '../../../kernel/api/forms.ts';
import { type Page, type PageContext, page, showPage } from '../../../kernel/api/page.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html } from '../../../platform/http/pages/html.ts';
import { SETTINGS_PATH } from '../settings/views.ts';
import { unsubscribe } from './actions.ts';
import { readUnsubscribeLink, UNSUBSCRIBE_PATH, type Unsubscribing } from './links.ts';

function linkOf({ services, request }: PageContext): Unsubscribing {
  const link = readUnsubscribeLink(services, request.params.link ?? '');
  if (!link) throw notFound('Link');
  return link;
}

/** GET changes nothing, because scanners of mail open its links. */
async function ask(context: PageContext): Promise<HttpResponse> {
  const { services, session, request } = context;
  // The texts reveal no more than the mail did.
  const { name, still } = linkOf(context).subscription;
  const body = card(
    `No more mails about ${name}?`,
    html`<p>${still}</p>
<form method="post" action="${request.path}">
<button>Unsubscribe</button>
</form>
<p class="aside"><a href="${SETTINGS_PATH}">All notifications</a></p>`,
  );
  return showPage(services, session, { title: 'Unsubscribe', body, headers });
}

/** The form, or one click of a mail program (RFC 8058), which has no session and follows no redirect. */
async function leave(context: PageContext): Promise<HttpResponse> {
  const { db, services, session } = context;
  const link = linkOf(context);
  await unsubscribe(db, link);
  const { name, still } = link.subscription;
  const body = card(
    'Unsubscribed',
    html`<p role="status">You get no more mails about ${name}. ${still}</p>
<p class="aside"><a href="${SETTINGS_PATH}">All notifications</a></p>`,
  );
  return showPage(services, session, { title: 'Unsubscribed', body, headers });
}

/** The address is the credential: it is sent to no other site, and search engines do not index it. */
const headers = { 'referrer-policy': 'same-origin', 'x-robots-tag': 'noindex' };

export const unsubscribePages: Page[] = [
  page({ method: 'GET', path: `${UNSUBSCRIBE_PATH}/:link`, handle: ask }),
  page({ method: 'POST', path: `${UNSUBSCRIBE_PATH}/:link`, handle: leave }),
];
