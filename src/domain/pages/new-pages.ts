/** Addresses at which other programs have a form to make a record: the page explains how the API makes it. */
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import { type Html, html } from '../../platform/http/pages/html.ts';
import { homeOf, showIn, type Tab } from './view/parents.ts';
import { show, type ViewContext } from './view/view-context.ts';

type Making = {
  noun: string;
  /** The section of the API's documentation. */
  part: string;
  /** Path below `/projects/:id`, and below `/groups/:id`, where it is made there. */
  project?: string;
  group?: string;
  /** Required fields of the request. */
  fields: string;
  tab: Tab;
};

const makings: Record<string, Making> = {
  issues: { noun: 'issue', part: 'issues', project: 'issues', fields: 'title=…', tab: 'Issues' },
  merge_requests: {
    ...{ noun: 'merge request', part: 'merge-requests', project: 'merge_requests' },
    ...{ fields: 'source_branch=…&target_branch=main&title=…', tab: 'Merge requests' },
  },
  epics: { noun: 'epic', part: 'epics', group: 'epics', fields: 'title=…', tab: 'Epics' },
  milestones: {
    ...{ noun: 'milestone', part: 'milestones', project: 'milestones', group: 'milestones' },
    ...{ fields: 'title=…', tab: 'Milestones' },
  },
  labels: {
    ...{ noun: 'label', part: 'labels', project: 'labels', group: 'labels' },
    ...{ fields: 'name=…&color=red', tab: 'Labels' },
  },
  snippets: {
    ...{ noun: 'snippet', part: 'snippets', project: 'snippets' },
    ...{ fields: 'title=…&visibility=private&file_name=…&content=…', tab: 'Snippets' },
  },
  branches: {
    ...{ noun: 'branch', part: 'repositories', project: 'repository/branches' },
    ...{ fields: 'branch=…&ref=…', tab: 'Branches' },
  },
  releases: {
    ...{ noun: 'release', part: 'releases', project: 'releases' },
    ...{ fields: 'tag_name=…&ref=main', tab: 'Releases' },
  },
  tags: {
    ...{ noun: 'tag', part: 'repositories', project: 'repository/tags' },
    ...{ fields: 'tag_name=…&ref=…', tab: 'Tags' },
  },
};

const pageOf = (
  view: ViewContext,
  noun: string,
  path: string,
  { fields, part }: Pick<Making, 'fields' | 'part'>,
): Html =>
  html`<h1>New ${noun}</h1>
<p>Pages are for reading. To make ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}, call the API with an access token of the scope <code>api</code>:</p>
<pre class="listing">curl --request POST --header "PRIVATE-TOKEN: &lt;your token&gt;" \\
  --data "${fields}" "${view.services.baseUrl()}/api/v4${path}"</pre>
<p>What else it takes is in <a href="/api/docs#${part}">the documentation of the API</a>.</p>`;

/** `<home>/-/<kind>/new`; 404 where the reader does not see the home, or it has no such records. */
export async function showNew(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const making = new Map(Object.entries(makings)).get(view.request.path.split('/').at(-2) ?? '');
  const path = home.project ? making?.project : making?.group;
  if (!making || path === undefined) throw notFound();
  if (making.part === 'epics' && view.services.config.tier === 'free') throw notFound();
  const body = pageOf(view, making.noun, `/${home.kind}s/${home.id}/${path}`, making);
  return showIn(view, home, { title: `New ${making.noun}`, tab: making.tab, body });
}

/** For records that are made in no project or group of the address. */
const showNewAnywhere =
  (noun: string, path: string, part: string, fields: string) =>
  async (view: ViewContext): Promise<HttpResponse> =>
    show(view, `New ${noun}`, html`<div class="page">${pageOf(view, noun, path, { fields, part })}</div>`);

export const showNewProject = showNewAnywhere('project', '/projects', 'projects', 'name=…');
export const showNewGroup = showNewAnywhere('group', '/groups', 'groups', 'name=…&path=…');
export const showNewSnippet = showNewAnywhere(
  'snippet',
  '/snippets',
  'snippets',
  makings.snippets?.fields ?? '',
);
