/** Merge requests: their lists, and one with its discussion. Its changes are those of the comparison of its ends. */
import { redirect } from '../../../kernel/api/page.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { between, html } from '../../../platform/http/pages/html.ts';
import {
  groupMergeRequestsEndpoint,
  mergeRequestConversation,
  mergeRequestEndpoint,
  projectMergeRequestsEndpoint,
} from '../../merge-requests/index.ts';
import { taskStatus } from '../../work-items/index.ts';
import { pipelineFacts } from '../ci/pipeline-facts.ts';
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
import { readMergeRequestEvents } from './merge-request-events.ts';
import { chips, narrowedTo, pathOf, stateLinks, workRow } from './work-rows.ts';

const states = [
  ['opened', 'Open'],
  ['merged', 'Merged'],
  ['closed', 'Closed'],
  ['all', 'All'],
] as const;

/** Merge requests of a project or a group; with a label where one is named. */
export async function showMergeRequests(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const names = view.fields('label_name');
  const state = view.choice('state', ['opened', 'merged', 'closed', 'all']);
  const listed = await view.list(home.project ? projectMergeRequestsEndpoint : groupMergeRequestsEndpoint, {
    id: home.id,
    state,
    ...(names.length > 0 && { labels: names }),
    with_labels_details: true,
    page: pageNumber(view),
  });
  const rows = listed.items.map((each) => workRow(view, each, each.references?.relative ?? `!${each.iid}`));
  const body = html`<h1>Merge requests</h1>
${stateLinks(view, states, state)}
${narrowedTo(names, `${home.address}/-/merge_requests`)}
${listOf(rows, 'No merge requests.')}
${pager(view, listed)}`;
  return showIn(view, home, { title: 'Merge requests', tab: 'Merge requests', body });
}

export async function showMergeRequest(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const { id } = project;
  const iid = numberIn(view, 'iid');
  const record = await view.one(mergeRequestEndpoint, { id, merge_request_iid: iid });
  const [labelled, description, discussions] = await Promise.all([
    view.list(projectMergeRequestsEndpoint, { id, iids: [iid], with_labels_details: true }),
    renderedMarkdown(view, record.description, { project }),
    discussionsView(
      view,
      (page) => view.list(mergeRequestConversation.threads, { id, noteable_id: iid, ...page }),
      { project, events: await readMergeRequestEvents(view, { id, eventable_id: iid }) },
    ),
  ]);
  const { time_stats: time, task_completion_status: tasks, diff_refs: ends, changes_count: count } = record;
  const pipeline = record.head_pipeline;
  const address = projectAddress(project);
  const body = html`<p class="below">${record.references.full}</p>
<h1>${record.title}</h1>
<p class="below">${stateTag(record.state)} ${record.draft && tag('Draft')} ${
    record.state === 'opened' && record.has_conflicts && tag('Conflicts', 'warning')
  } opened ${timeOf(record.created_at)} by ${personLink(record.author)}</p>
${facts(
  ['Branches', html`<code>${record.source_branch}</code> → <code>${record.target_branch}</code>`],
  [
    'Changes',
    ends &&
      project.may('read_code') &&
      html`<a href="${address}/-/merge_requests/${iid}/diffs">${count} file${count !== '1' && 's'}</a>`,
  ],
  [
    'Pipeline',
    pipeline &&
      html`<a href="${pathOf(view, pipeline.web_url)}">#${pipeline.id}</a> ${wordTag(pipeline.status)}`,
  ],
  // Those of a fork are on its own pages.
  ...(pipeline?.project_id === id ? await pipelineFacts(view, project, pipeline) : []),
  ['Assigned to', between(record.assignees.map(personLink))],
  ['Reviewers', between(record.reviewers.map(personLink))],
  ['Labels', chips(labelled.items[0]?.labels ?? [], `${address}/-/merge_requests`)],
  [
    'Milestone',
    record.milestone &&
      html`<a href="${pathOf(view, record.milestone.web_url)}">${record.milestone.title}</a>`,
  ],
  ['Tasks', tasks.count > 0 && taskStatus(tasks)],
  ['Estimate', time.human_time_estimate],
  ['Time spent', time.human_total_time_spent],
  [
    'Merged',
    record.merged_at !== null &&
      html`${timeOf(record.merged_at)}${record.merge_user && html` by ${personLink(record.merge_user)}`}`,
  ],
  [
    'Closed',
    record.closed_at !== null &&
      html`${timeOf(record.closed_at)}${record.closed_by && html` by ${personLink(record.closed_by)}`}`,
  ],
)}
${description ?? html`<p class="none">No description.</p>`}
${discussions}`;
  return showInProject(view, project, {
    title: `${record.title} (!${record.iid})`,
    tab: 'Merge requests',
    body,
  });
}

/** Leads to the comparison of its ends, or with the commit before a push, which notes name. */
export async function showMergeRequestDiffs(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const { diff_refs: ends } = await view.one(mergeRequestEndpoint, {
    id: project.id,
    merge_request_iid: numberIn(view, 'iid'),
  });
  if (!ends) throw notFound();
  const since = view.field('start_sha');
  const range = /^[0-9a-f]{40,64}$/.test(since)
    ? `${since}..${ends.head_sha}`
    : `${ends.base_sha}...${ends.head_sha}`;
  return redirect(`${projectAddress(project)}/-/compare/${range}`);
}
