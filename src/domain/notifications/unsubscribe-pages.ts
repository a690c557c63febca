/** Pages of unsubscribe links: a form that asks, and its POST, which mail programs also send as one click. */
import { card } from '../../core/forms.ts';
import { writeSettings } from '../../core/notifications/settings.ts';
import { type PageContext, page, showPage } from '../../core/page.ts';
import type { Services } from '../../core/services.ts';
import { setSubscription } from '../../core/work/subscriptions.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { notFound } from '../../platform/failure.ts';
import { html } from '../../platform/http/html.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { Route } from '../../platform/http/server.ts';
import { SETTINGS_PATH } from './settings-views.ts';
import { readUnsubscribeLink, UNSUBSCRIBE_PATH, type Unsubscribing } from './unsubscribe-links.ts';

/** Texts that reveal no more than the mail did. */
const words: Record<Unsubscribing['kind'], { what: string; still: string }> = {
  issue: {
    what: 'this issue',
    still: 'You still get one when somebody mentions you there or assigns it to you.',
  },
  epic: { what: 'this epic', still: 'You still get one when somebody mentions you there.' },
  project: { what: 'this project', still: 'You get none about anything in it.' },
  group: { what: 'this group', still: 'You get none about anything in it.' },
};

const tables = { issue: 'issues', epic: 'epics', project: 'projects', group: 'namespaces' } as const;

/** Whether user and subject exist; without them there is no mail to end. */
async function isThere(tx: Db, { userId, kind, id }: Unsubscribing): Promise<boolean> {
  const user = await tx
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .forKeyShare()
    .executeTakeFirst();
  const thing = await tx
    .selectFrom(tables[kind])
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst();
  return user !== undefined && thing !== undefined;
}

/** Ends the mails; idempotent. */
const unsubscribe = (db: Db, link: Unsubscribing): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { userId, kind, id } = link;
    if (!(await isThere(tx, link))) return;
    if (kind === 'issue' || kind === 'epic')
      await setSubscription(tx, userId, { column: `${kind}_id`, id }, false);
    else await writeSettings(tx, userId, { kind, id }, { level: 'disabled', events: {} });
  });

function linkOf({ services, request }: PageContext): Unsubscribing {
  const link = readUnsubscribeLink(services, request.params.link ?? '');
  if (!link) throw notFound('Link');
  return link;
}

/** GET changes nothing, because scanners of mail open its links. */
async function ask(context: PageContext): Promise<HttpResponse> {
  const { services, session, request } = context;
  const { what, still } = words[linkOf(context).kind];
  const body = card(
    `No more mails about ${what}?`,
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
  const { what, still } = words[link.kind];
  const body = card(
    'Unsubscribed',
    html`<p role="status">You get no more mails about ${what}. ${still}</p>
<p class="aside"><a href="${SETTINGS_PATH}">All notifications</a></p>`,
  );
  return showPage(services, session, { title: 'Unsubscribed', body, headers });
}

/** The address is the credential: it is sent to no other site, and search engines do not index it. */
const headers = { 'referrer-policy': 'same-origin', 'x-robots-tag': 'noindex' };

export const unsubscribePages = (services: Services): Route[] => [
  page(services, { method: 'GET', path: `${UNSUBSCRIBE_PATH}/:link`, handle: ask }),
  page(services, { method: 'POST', path: `${UNSUBSCRIBE_PATH}/:link`, handle: leave }),
];
