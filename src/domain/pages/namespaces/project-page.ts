/** The page of a project: its description, the address of its repository, and its README. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html, madeSafe } from '../../../platform/http/pages/html.ts';
import { readOutsidePages } from '../../integrations/index.ts';
import { renderDescription } from '../../markdown/index.ts';
import { projectEndpoint } from '../../namespaces/index.ts';
import { readmeOf } from '../repositories/readme.ts';
import { avatar, dayOf, facts } from '../view/components.ts';
import { projectAddress, showInProject } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';

/** The README of the default branch; undefined without one, or when the reader may not read the code. */
async function readme(view: ViewContext, project: AuthorizedProject): Promise<Html | undefined> {
  const branch = project.row.default_branch;
  if (branch === null || project.row.empty_repo || !project.may('read_code')) return undefined;
  return readmeOf(view, project, branch);
}

export async function showProject(view: ViewContext, project: AuthorizedProject): Promise<HttpResponse> {
  const [record, text, outside] = await Promise.all([
    view.one(projectEndpoint, { id: project.id }),
    readme(view, project),
    readOutsidePages(view.services.database.db, project),
  ]);
  const source = record.forked_from_project;
  const body = html`<header class="who">${avatar(view, record.name, record.avatar_url)}
<div><h1>${record.name}</h1><p class="below">${record.path_with_namespace}</p></div></header>
<div class="prose">${madeSafe(renderDescription(record.description))}</div>
${facts(
  ['Clone', project.may('read_code') && html`<code class="whole">${record.http_url_to_repo}</code>`],
  ['Topics', record.topics.join(', ')],
  ['Stars', record.star_count],
  ['Forks', record.forks_count],
  ['Forked from', source && html`<a href="/${source.path_with_namespace}">${source.name_with_namespace}</a>`],
  [
    'Open issues',
    record.open_issues_count !== undefined &&
      project.may('read_issues') &&
      html`<a href="${projectAddress(project)}/-/issues">${record.open_issues_count}</a>`,
  ],
  ...outside.map(({ label, title, href }): [string, Html] => [
    label,
    html`<a href="${href}" rel="nofollow noreferrer noopener">${title}</a>`,
  ]),
  ['Created', dayOf(record.created_at)],
  ['Last activity', dayOf(record.last_activity_at)],
)}
${text ?? (record.empty_repo && project.may('read_code') && html`<p class="none">The repository is empty.</p>`)}`;
  return showInProject(view, project, { title: record.name, tab: 'Overview', body });
}
