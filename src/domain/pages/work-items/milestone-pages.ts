/** Milestones and labels of a project or a group. */

import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { labelReadsOf, type MilestoneRecord, milestoneReadsOf } from '../../planning/index.ts';
import { milestoneContentsOf } from '../../work-items/index.ts';
import {
  facts,
  labelChip,
  listOf,
  pageNumber,
  pager,
  stateTag,
  tag,
  thing,
  timeOf,
} from '../view/components.ts';
import { homeOf, numberIn, showIn } from '../view/parents.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { issueRow } from './issue-pages.ts';
import { pathOf } from './work-rows.ts';

const span = ({ start_date, due_date }: MilestoneRecord): string => {
  if (start_date !== null && due_date !== null) return `${start_date} to ${due_date}`;
  if (due_date !== null) return `Due ${due_date}`;
  return start_date === null ? 'No dates' : `From ${start_date}`;
};

const milestoneRow = (view: ViewContext, milestone: MilestoneRecord): Html =>
  thing(
    html`<a href="${pathOf(view, milestone.web_url)}">${milestone.title}</a> ${milestone.expired && milestone.state === 'active' && tag('Expired', 'warning')}`,
    span(milestone),
    milestone.state === 'closed' && stateTag('closed'),
  );

export async function showMilestones(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const milestones = await view.list(milestoneReadsOf[home.kind].list, {
    id: home.id,
    include_ancestors: true,
    page: pageNumber(view),
  });
  const body = html`<h1>Milestones</h1>
${listOf(
  milestones.items.map((milestone) => milestoneRow(view, milestone)),
  'No milestones.',
)}
${pager(view, milestones)}`;
  return showIn(view, home, { title: 'Milestones', tab: 'Milestones', body });
}

/** Addresses have the number of a milestone in its place; endpoints take its id. */
export async function showMilestone(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const { id } = home;
  const iids = [numberIn(view, 'iid')];
  const { items } = await view.list(milestoneReadsOf[home.kind].list, { id, iids });
  const [milestone] = items;
  if (!milestone) throw notFound('Milestone');
  const [issues, description] = await Promise.all([
    view.list(milestoneContentsOf[home.kind].issues, {
      id,
      milestone_id: milestone.id,
      page: pageNumber(view),
    }),
    renderedMarkdown(view, milestone.description, { project: home.project }),
  ]);
  const body = html`<h1>${milestone.title}</h1>
<p class="below">${stateTag(milestone.state)} ${milestone.expired && milestone.state === 'active' && tag('Expired', 'warning')}</p>
${facts(['Starts', milestone.start_date], ['Due', milestone.due_date], ['Made', timeOf(milestone.created_at)])}
${description}
<h2>Issues</h2>
${listOf(
  issues.items.map((issue) => issueRow(view, issue, `#${issue.iid}`)),
  'No issues that you may see.',
)}
${pager(view, issues)}`;
  return showIn(view, home, { title: milestone.title, tab: 'Milestones', body });
}

/** The labels that issues of the project or group can have, each with the list of its issues. */
export async function showLabels(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const labels = await view.list(labelReadsOf[home.kind].list, {
    id: home.id,
    page: pageNumber(view),
    per_page: 50,
  });
  const rows = labels.items.map((label) =>
    thing(
      labelChip(label, `${home.address}/-/issues?label_name=${encodeURIComponent(label.name)}`),
      label.description,
      label.archived && tag('Archived', 'closed'),
    ),
  );
  const body = html`<h1>Labels</h1>
${listOf(rows, 'No labels.')}
${pager(view, labels)}`;
  return showIn(view, home, { title: 'Labels', tab: 'Labels', body });
}
