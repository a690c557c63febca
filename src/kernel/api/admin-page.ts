/** Pages for administrators, below /admin: who sees them, the API as they call it, and what all of them show. */
import type { UniqueIndexes } from '../../platform/db/errors.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import { type Html, html } from '../../platform/http/pages/html.ts';
import type { Method } from '../../platform/http/server/server.ts';
import type { Session } from '../identity/sessions.ts';
import { Registry } from '../registry.ts';
import { type InternalApiClient, internalApiClient } from './internal-api-client.ts';
import { type Page, type PageContext, sessionPage, showPage, tokenField } from './page.ts';

export const ADMIN_PATH = '/admin';

/** The areas, in the order of the tabs; what each is for is said on the first page. */
const areas = [
  { path: ADMIN_PATH, label: 'Overview', about: '' },
  {
    path: '/admin/users',
    label: 'Users',
    about: 'Who is here, who waits to be let in, and who administers.',
  },
  { path: '/admin/settings', label: 'Settings', about: 'What the site allows, and how much of it.' },
  { path: '/admin/mail', label: 'Mail', about: 'A test of the mail server, and mails that it did not take.' },
  { path: '/admin/jobs', label: 'Jobs', about: 'Work that waits, and work that failed.' },
  { path: '/admin/health', label: 'Health', about: 'Whether the parts that the site stands on are well.' },
  {
    path: '/admin/applications',
    label: 'Applications',
    about: 'Programs that sign people in with this site.',
  },
] as const;

/** The context of a page for administrators, and the API with the rights of the one who reads it. */
export type AdminContext = PageContext<Session> & { api: InternalApiClient };

/** Something that waits for an administrator, and where it is seen to; shown on the first page. */
export type AdminNotice = { text: string; path: string };

/** What capabilities would have administrators know; undefined where there is nothing. */
export const adminNotices = new Registry<(context: AdminContext) => Promise<AdminNotice | undefined>>();

/**
 * 404 for other users, so that the page's existence is not revealed. Every page for administrators asks here, and nowhere
 * else.
 */
export function requireAdministrator({ session }: PageContext<Session>): void {
  if (!session.actor.admin) throw notFound('Page');
}

/** A page for administrators. `unique` are the indexes that its changes may collide at. */
export const adminPage = ({
  method,
  path,
  unique = {},
  handle,
}: {
  method: Method;
  path: string;
  unique?: UniqueIndexes;
  handle(context: AdminContext): Promise<HttpResponse>;
}): Page =>
  sessionPage({
    method,
    path,
    handle: async (context) => {
      requireAdministrator(context);
      const { services, settings, request, session } = context;
      const api = internalApiClient({ services, settings, request, caller: session.actor, unique });
      return handle({ ...context, api });
    },
  });

/** The areas as tabs, of which one is the page's own. */
export function adminTabs({ request }: PageContext<Session>): Html {
  const isBelow = (path: string): boolean =>
    path === ADMIN_PATH ? request.path === path : `${request.path}/`.startsWith(`${path}/`);
  return html`<nav class="tabs" aria-label="Administration">${areas.map(
    ({ path, label }) => html`<a href="${path}"${isBelow(path) && html` aria-current="page"`}>${label}</a>`,
  )}</nav>`;
}

/** The areas with what each is for. */
export const adminAreas = (): Html =>
  html`<ul class="things">${areas
    .filter(({ about }) => about !== '')
    .map(
      ({ path, label, about }) =>
        html`<li><div><div class="what"><a href="${path}">${label}</a></div><div class="below">${about}</div></div></li>`,
    )}</ul>`;

/** A page in the layout of administration. */
export const showAdminPage = (
  context: PageContext<Session>,
  { title, body, status = 200 }: { title: string; body: Html; status?: number },
): HttpResponse =>
  showPage(context.services, context.session, {
    title,
    status,
    body: html`${adminTabs(context)}
<div class="page">
<h1>${title}</h1>
${body}
</div>`,
  });

/** The token field of the forms of a page. */
export const adminToken = ({ services, session }: PageContext<Session>): Html =>
  tokenField(services, session);

/** What was done, as the path after a redirect names it; a name without words is ignored, since anybody can write links. */
export const doneNote = (
  { field }: PageContext<Session>,
  words: Readonly<Record<string, string>>,
): Html | undefined => {
  const text = new Map(Object.entries(words)).get(field('done'));
  return text === undefined ? undefined : html`<p class="note done" role="status">${text}</p>`;
};

/** `2026-11-29 02:30 UTC`. */
export const minuteText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** A time to the minute. */
export const minuteOf = (time: Date): Html =>
  html`<time datetime="${time.toISOString()}">${minuteText(time)}</time>`;

/** An id in a field; undefined for an empty one, 404 for what is none. */
export function idIn({ field }: PageContext<Session>, name: string): number | undefined {
  const text = field(name);
  if (text !== '' && !/^\d{1,15}$/.test(text)) throw notFound('Page');
  return text === '' ? undefined : Number(text);
}

/** The links below a list that goes on after the last id that it shows. */
export const olderLinks = (
  path: string,
  before: number | undefined,
  next: number | undefined,
): Html | false =>
  (before !== undefined || next !== undefined) &&
  html`<nav class="pager" aria-label="Pages">${before !== undefined && html`<a href="${path}">To the latest</a>`}${next !== undefined && html`<a rel="next" href="${path}?before=${next}">Older</a>`}</nav>`;
