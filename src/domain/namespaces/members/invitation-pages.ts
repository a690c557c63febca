/** The page on which users see their invitations, and accept or decline them. */
import { decideInvitation, invitationsTo } from '../../../kernel/access/invitation-actions.ts';
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
import { levelName } from '../../../kernel/policy/roles.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html } from '../../../platform/http/pages/html.ts';

type Context = PageContext<Session>;

const PATH = '/-/profile/invitations';

async function show({ db, services, session }: Context): Promise<HttpResponse> {
  const waiting = await invitationsTo(db, session.actor.id);
  const token = tokenField(services, session);
  const button = (id: number, what: 'accept' | 'decline', label: string, path: string) =>
    html`<form method="post" action="${PATH}/${id}/${what}">${token}
<button class="${what === 'accept' ? '' : 'plain'}" aria-label="${label}: ${path}">${label}</button></form>`;
  const items = waiting.map(
    ({ id, full_path, access_level, expires_at }) => html`<li>
<div><strong>${full_path}</strong>
<p class="hint">As ${levelName(access_level)}${expires_at !== null && html`, until ${expires_at}`}.</p></div>
${button(id, 'accept', 'Join', full_path)}
${button(id, 'decline', 'Decline', full_path)}
</li>`,
  );
  const body = panel(
    'Invitations',
    html`<p>Projects and groups that one of your mail addresses was invited to.</p>`,
    items.length === 0 ? html`<p>There are none.</p>` : html`<ul class="rows">${items}</ul>`,
  );
  return showPage(services, session, { title: 'Invitations', body });
}

const decide =
  (taken: boolean) =>
  async ({ db, session, request }: Context): Promise<HttpResponse> => {
    const { id = '' } = request.params;
    if (/^\d{1,15}$/.test(id))
      await inTransaction(db, (tx) => decideInvitation(tx, session.actor, Number(id), taken));
    return redirect(PATH);
  };

/** The list, and the two decisions on each entry. */
export const invitationPages: Page[] = [
  sessionPage({ method: 'GET', path: PATH, handle: show }),
  sessionPage({ method: 'POST', path: `${PATH}/:id/accept`, handle: decide(true) }),
  sessionPage({ method: 'POST', path: `${PATH}/:id/decline`, handle: decide(false) }),
];
