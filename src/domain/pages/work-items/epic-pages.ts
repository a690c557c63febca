/** Epics of a group: their list, and one with its issues and its discussion. */

import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import {
  childEpicEndpoints,
  type EpicRecord,
  epicConversation,
  epicEndpoints,
  epicIssueEndpoints,
} from '../../work-items/index.ts';
import {
  facts,
  listOf,
  pageNumber,
  pager,
  personLink,
  stateTag,
  tag,
  thing,
  timeOf,
} from '../view/components.ts';
import { discussionsView } from '../view/discussion.ts';
import { groupOf, numberIn, showInGroup } from '../view/parents.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { chips, pathOf, stateChoices, stateFilter, workRow } from './work-rows.ts';

const epicRow = (view: ViewContext, epic: EpicRecord): Html =>
  workRow(view, epic, epic.references.relative, {
    marks: epic.confidential && tag('Confidential', 'closed'),
    below: epic.due_date !== null && html` · due ${epic.due_date}`,
  });

export async function showEpics(view: ViewContext): Promise<HttpResponse> {
  const group = await groupOf(view);
  const epics = await view.list(epicEndpoints.plain.list, {
    id: group.id,
    state: stateFilter(view),
    with_labels_details: true,
    page: pageNumber(view),
  });
  const body = html`<h1>Epics</h1>
${stateChoices(view)}
${listOf(
  epics.items.map((epic) => epicRow(view, epic)),
  'No epics.',
)}
${pager(view, epics)}`;
  return showInGroup(view, group, { title: 'Epics', tab: 'Epics', body });
}

export async function showEpic(view: ViewContext): Promise<HttpResponse> {
  const group = await groupOf(view);
  const { id } = group;
  const named = { id, epic_iid: numberIn(view, 'iid') };
  const epic = await view.one(epicEndpoints.plain.one, named);
  const [labelled, inside, issues, description, discussions] = await Promise.all([
    view.list(epicEndpoints.plain.list, {
      id,
      iids: [named.epic_iid],
      state: 'all',
      include_descendant_groups: false,
      with_labels_details: true,
    }),
    view.list(childEpicEndpoints.plain.list, named),
    view.list(epicIssueEndpoints.plain.list, { ...named, per_page: 100 }),
    renderedMarkdown(view, epic.description),
    discussionsView(view, (page) =>
      view.list(epicConversation.threads, { id, noteable_id: epic.id, ...page }),
    ),
  ]);
  const issueRows = issues.items.map((issue) =>
    thing(
      html`<a href="${pathOf(view, issue.web_url)}">${issue.title}</a> ${issue.confidential && tag('Confidential', 'closed')}`,
      issue.references.full,
      issue.state === 'closed' && stateTag('closed'),
    ),
  );
  const body = html`<p class="below">${epic.references.full}</p>
<h1>${epic.title}</h1>
<p class="below">${stateTag(epic.state)} ${epic.confidential && tag('Confidential', 'closed')} opened ${timeOf(epic.created_at)} by ${personLink(epic.author)}</p>
${facts(
  ['Labels', chips(labelled.items[0]?.labels ?? [])],
  ['Starts', epic.start_date],
  ['Due', epic.due_date],
  ['Closed', epic.closed_at !== null && timeOf(epic.closed_at)],
)}
${description ?? html`<p class="none">No description.</p>`}
${
  inside.items.length > 0 &&
  html`<h2>Epics in it</h2>${listOf(
    inside.items.map((each) => epicRow(view, each)),
    '',
  )}`
}
${issueRows.length > 0 && html`<h2>Issues in it</h2>${listOf(issueRows, '')}`}
${discussions}`;
  return showInGroup(view, group, { title: `${epic.title} (&${epic.iid})`, tab: 'Epics', body });
}
