/** The page of a person: the profile that this reader may see, and the projects of their own. */

import type { BasicProject } from '../../../kernel/namespaces/project-records.ts';
import type { UserBasic } from '../../../kernel/users/records.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html } from '../../../platform/http/pages/html.ts';
import { avatar, dayOf, facts, pageNumber, pager, tag } from '../view/components.ts';
import { show, type ViewContext } from '../view/view-context.ts';
import { projectList } from './project-list.ts';

/**
 * The properties of the record that this page shows; the profile's are there for readers who may see them.
 */
type Profile = UserBasic & {
  created_at?: string;
  bio?: string;
  location?: string | null;
  website_url?: string;
  job_title?: string;
  organization?: string | null;
  pronouns?: string | null;
  bot?: boolean;
};

const website = (address: string) =>
  /^https?:\/\//i.test(address)
    ? html`<a href="${address}" rel="nofollow noreferrer noopener">${address}</a>`
    : address;

export async function showUser(view: ViewContext, id: number): Promise<HttpResponse> {
  const user = await view.one<Profile>('/users/:id', { id: String(id) });
  const projects = await view.list<BasicProject>('/users/:user_id/projects', {
    user_id: String(id),
    simple: 'true',
    order_by: 'last_activity_at',
    page: String(pageNumber(view)),
  });
  const body = html`<div class="page">
<header class="who">${avatar(view, user.name, user.avatar_url)}
<div><h1>${user.name}</h1><p class="below">@${user.username}${user.pronouns && ` · ${user.pronouns}`} ${user.bot && tag('Bot')}${
    user.state === 'blocked' && tag('Blocked', 'closed')
  }</p></div></header>
${user.bio && html`<p>${user.bio}</p>`}
${facts(
  ['Works as', user.job_title],
  ['Organization', user.organization],
  ['Location', user.location],
  ['Email', user.public_email],
  ['Website', user.website_url && website(user.website_url)],
  ['Here since', user.created_at && dayOf(user.created_at)],
)}
<h2>Projects</h2>
${projectList(view, projects.items, 'No projects that you may see.')}
${pager(view, projects)}
</div>`;
  return show(view, `${user.name} (@${user.username})`, body);
}
