/** The page on which users see their sessions, and end them. */
import { panel } from '../../../kernel/api/forms.ts';
import {
  type Page,
  type PageContext,
  redirect,
  sessionPage,
  showPage,
  tokenField,
} from '../../../kernel/api/page.ts';
import type { Session } from '../../../kernel/identity/sessions.ts';
import { now } from '../../../platform/clock.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { endOtherSessions, endOwnSession, type SessionRow, selectSessions } from './queries.ts';
import { describeUserAgent } from './user-agent.ts';

type Context = PageContext<Session>;

const PATH = '/-/profile/active_sessions';

const sessionId = ({ actor: { credential } }: Session): number | undefined =>
  credential.via === 'session' ? credential.sessionId : undefined;

const when = (time: Date): Html => {
  const iso = time.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
};

/** One session; the reader's own has no button, since signing out ends it. */
function item(row: SessionRow, current: boolean, token: Html): Html {
  const name = describeUserAgent(row.user_agent);
  const where = row.address ?? 'an unknown address';
  return html`<li>
<div><strong>${name}</strong>${current && html` <span class="tag">this browser</span>`}
<p class="hint">From ${where}, since ${when(row.created_at)}; last used ${when(row.last_used_at)} (UTC).</p></div>
${
  !current &&
  html`<form method="post" action="${PATH}/${row.id}/revoke">${token}
<button class="plain" aria-label="End this session: ${name} from ${where}">End this session</button></form>`
}
</li>`;
}

async function show(context: Context): Promise<HttpResponse> {
  const { db, services, settings, session } = context;
  const rows = await selectSessions(db, session.actor.id, settings, now());
  const current = sessionId(session);
  const token = tokenField(services, session);
  const body = panel(
    'Active sessions',
    html`<p>Where you are signed in. End what you do not know, and then change your password.</p>
<ul class="rows">${rows.map((row) => item(row, row.id === current, token))}</ul>`,
    rows.length > 1 &&
      html`<form method="post" action="${PATH}/revoke_others">${token}<button>End all other sessions</button></form>`,
  );
  return showPage(services, session, { title: 'Active sessions', body });
}

async function revoke({ db, session, request }: Context): Promise<HttpResponse> {
  const { id = '' } = request.params;
  if (/^\d{1,15}$/.test(id)) await endOwnSession(db, session.actor.id, Number(id));
  return redirect(PATH);
}

async function revokeOthers({ db, session }: Context): Promise<HttpResponse> {
  await endOtherSessions(db, session.actor.id, session.token);
  return redirect(PATH);
}

/** The list, and the buttons that end its entries. */
export const activeSessionPages: Page[] = [
  sessionPage({ method: 'GET', path: PATH, handle: show }),
  sessionPage({ method: 'POST', path: `${PATH}/:id/revoke`, handle: revoke }),
  sessionPage({ method: 'POST', path: `${PATH}/revoke_others`, handle: revokeOthers }),
];
