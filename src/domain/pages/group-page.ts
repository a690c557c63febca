/** The page of a group: what it is, the groups and the projects in it. */

import type { Static } from 'typebox';
import type { AuthorizedGroup } from '../../core/access/find.ts';
import { renderDescription } from '../../core/markdown/description.ts';
import type { Group } from '../../core/namespaces/group-records.ts';
import type { BasicProject } from '../../core/namespaces/project-records.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { html, madeSafe } from '../../platform/http/html.ts';
import type { Looking } from './door.ts';
import { avatar, listOf, pageNumber, pager, thing, wordTag } from './parts.ts';
import { showInGroup } from './places.ts';
import { projectList } from './project-list.ts';

type GroupRecord = Static<typeof Group>;

/** Groups inside that are listed. */
const MOST_GROUPS = '100';

export async function showGroup(looking: Looking, group: AuthorizedGroup): Promise<Answer> {
  const id = String(group.id);
  const [record, inside, projects] = await Promise.all([
    looking.one<GroupRecord>('/groups/:id', { id, with_projects: 'false' }),
    looking.list<GroupRecord>('/groups/:id/subgroups', { id, per_page: MOST_GROUPS }),
    looking.list<BasicProject>('/groups/:id/projects', {
      id,
      simple: 'true',
      with_shared: 'false',
      order_by: 'last_activity_at',
      page: String(pageNumber(looking)),
    }),
  ]);
  const groups = inside.items.map(
    (each) => html`${avatar(looking, each.name, each.avatar_url)}
${thing(html`<a href="/groups/${each.full_path}">${each.name}</a> ${wordTag(each.visibility)}`, each.description)}`,
  );
  const body = html`<header class="who">${avatar(looking, record.name, record.avatar_url)}
<div><h1>${record.name}</h1><p class="below">${record.full_path}</p></div></header>
<div class="prose">${madeSafe(renderDescription(record.description))}</div>
${groups.length > 0 && html`<h2>Groups</h2>${listOf(groups, '')}`}
<h2>Projects</h2>
${projectList(looking, projects.items, 'No projects right in it that you may see.')}
${pager(looking, projects)}`;
  return showInGroup(looking, group, { title: record.name, tab: 'Overview', body });
}
