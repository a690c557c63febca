/** The page of a group: its description, its groups and its projects. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html, madeSafe } from '../../../platform/http/pages/html.ts';
import { renderDescription } from '../../markdown/index.ts';
import { groupEndpoint, groupProjectsEndpoint, subgroupsEndpoint } from '../../namespaces/index.ts';
import { avatar, listOf, pageNumber, pager, thing, wordTag } from '../view/components.ts';
import { showInGroup } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';
import { projectList } from './project-list.ts';

/** Groups inside that are listed, at most. */
const MAX_GROUPS = 100;

export async function showGroup(view: ViewContext, group: AuthorizedGroup): Promise<HttpResponse> {
  const { id } = group;
  const [record, inside, projects] = await Promise.all([
    view.one(groupEndpoint, { id, with_projects: false }),
    view.list(subgroupsEndpoint, { id, per_page: MAX_GROUPS }),
    view.list(groupProjectsEndpoint, {
      id,
      simple: true,
      with_shared: false,
      order_by: 'last_activity_at',
      page: pageNumber(view),
    }),
  ]);
  const groups = inside.items.map(
    (each) => html`${avatar(view, each.name, each.avatar_url)}
${thing(html`<a href="/groups/${each.full_path}">${each.name}</a> ${wordTag(each.visibility)}`, each.description)}`,
  );
  const body = html`<header class="who">${avatar(view, record.name, record.avatar_url)}
<div><h1>${record.name}</h1><p class="below">${record.full_path}</p></div></header>
<div class="prose">${madeSafe(renderDescription(record.description))}</div>
${groups.length > 0 && html`<h2>Groups</h2>${listOf(groups, '')}`}
<h2>Projects</h2>
${projectList(view, projects.items, 'No projects right in it that you may see.')}
${pager(view, projects)}`;
  return showInGroup(view, group, { title: record.name, tab: 'Overview', body });
}
