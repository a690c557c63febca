/** Issues: their lists, and one with its discussion. */

import type { HttpResponse } from '../../../platform/http/messages.ts';
import { between, type Html, html } from '../../../platform/http/pages/html.ts';
import {
  groupIssuesEndpoint,
  type IssueBasicRecord,
  issueConversation,
  issueEndpoint,
  projectIssuesEndpoint,
} from '../../work-items/index.ts';
import {
  facts,
  listOf,
  pageNumber,
  pager,
  personLink,
  stateTag,
  tag,
  timeOf,
  wordTag,
} from '../view/components.ts';
import { discussionsView } from '../view/discussion.ts';
import { homeOf, numberIn, projectAddress, projectOf, showIn, showInProject } from '../view/parents.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { incidentView } from './incident-view.ts';
import { chips, narrowedTo, pathOf, stateChoices, stateFilter, workRow } from './work-rows.ts';

/** An issue in a list, where it is referred to as `reference`. */
export const issueRow = (view: ViewContext, issue: IssueBasicRecord, reference: string): Html =>
  workRow(view, issue, reference, {
    marks: issue.confidential && tag('Confidential', 'closed'),
    below: issue.due_date !== null && html` · due ${issue.due_date}`,
  });

/** Issues of a project or a group; with a label where one is named, as labels in texts link here. */
export async function showIssues(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const names = view.fields('label_name');
  const issues = await view.list(home.project ? projectIssuesEndpoint : groupIssuesEndpoint, {
    id: home.id,
    state: stateFilter(view),
    ...(names.length > 0 && { labels: names }),
    with_labels_details: true,
    page: pageNumber(view),
  });
  const body = html`<h1>Issues</h1>
${stateChoices(view)}
${narrowedTo(names, `${home.address}/-/issues`)}
${listOf(
  issues.items.map((issue) => issueRow(view, issue, issue.references.relative)),
  'No issues.',
)}
${pager(view, issues)}`;
  return showIn(view, home, { title: 'Issues', tab: 'Issues', body });
}

export async function showIssue(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const { id } = project;
  const iid = numberIn(view, 'iid');
  const issue = await view.one(issueEndpoint, { id, issue_iid: iid });
  const [labelled, description, discussions] = await Promise.all([
    view.list(projectIssuesEndpoint, {
      id,
      iids: [iid],
      state: 'all',
      with_labels_details: true,
    }),
    renderedMarkdown(view, issue.description, { project }),
    discussionsView(view, (page) => view.list(issueConversation.threads, { id, noteable_id: iid, ...page }), {
      project,
    }),
  ]);
  const time = issue.time_stats;
  const body = html`<p class="below">${issue.references.full}</p>
<h1>${issue.title}</h1>
<p class="below">${stateTag(issue.state)} ${issue.confidential && tag('Confidential', 'closed')} ${
    issue.issue_type !== 'issue' && wordTag(issue.issue_type)
  } ${
    issue.issue_type === 'incident' && issue.severity !== 'UNKNOWN' && wordTag(issue.severity.toLowerCase())
  } opened ${timeOf(issue.created_at)} by ${personLink(issue.author)}</p>
${facts(
  ['Assigned to', between(issue.assignees.map(personLink))],
  ['Labels', chips(labelled.items[0]?.labels ?? [], `${projectAddress(project)}/-/issues`)],
  [
    'Milestone',
    issue.milestone && html`<a href="${pathOf(view, issue.milestone.web_url)}">${issue.milestone.title}</a>`,
  ],
  ['Epic', issue.epic && html`<a href="${issue.epic.url}">${issue.epic.title}</a>`],
  ['Starts', issue.start_date],
  ['Due', issue.due_date],
  ['Weight', issue.weight],
  ['Health', issue.health_status?.replaceAll('_', ' ')],
  ['Tasks', issue.task_status],
  ['Estimate', time.human_time_estimate],
  ['Time spent', time.human_total_time_spent],
  [
    'Closed',
    issue.closed_at !== null &&
      html`${timeOf(issue.closed_at)}${issue.closed_by && html` by ${personLink(issue.closed_by)}`}`,
  ],
)}
${description ?? html`<p class="none">No description.</p>`}
${await incidentView(view, project, issue)}
${discussions}`;
  return showInProject(view, project, { title: `${issue.title} (#${issue.iid})`, tab: 'Issues', body });
}
