/** The page of a person: the profile that this reader may see, and the projects of their own. */
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html } from '../../../platform/http/pages/html.ts';
import { userEndpoint } from '../../accounts/index.ts';
import { userProjectsEndpoint } from '../../namespaces/index.ts';
import { avatar, dayOf, facts, pageNumber, pager, tag } from '../view/components.ts';
import { show, type ViewContext } from '../view/view-context.ts';
import { projectList } from './project-list.ts';

const website = (address: string) =>
  /^https?:\/\//i.test(address)
    ? html`<a href="${address}" rel="nofollow noreferrer noopener">${address}</a>`
    : address;

export async function showUser(view: ViewContext, id: number): Promise<HttpResponse> {
  const user = await view.one(userEndpoint, { id });
  const projects = await view.list(userProjectsEndpoint, {
    user_id: id,
    simple: true,
    order_by: 'last_activity_at',
    page: pageNumber(view),
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
