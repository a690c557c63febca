/** Milestones and labels of a project or a group. */
import type { IssueRecord } from '../../core/work/issue-records.ts';
import type { LabelBasicRecord } from '../../core/work/label-records.ts';
import type { MilestoneRecord } from '../../core/work/milestone-records.ts';
import { notFound } from '../../platform/failure.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { type Html, html } from '../../platform/http/html.ts';
import type { Looking } from './door.ts';
import { issueRow, pathOf } from './issue-pages.ts';
import { facts, labelChip, listOf, pageNumber, pager, stateTag, tag, thing, timeOf } from './parts.ts';
import { homeOf, numberIn, showIn } from './places.ts';
import { proseOf } from './prose.ts';

const span = ({ start_date, due_date }: MilestoneRecord): string => {
  if (start_date !== null && due_date !== null) return `${start_date} to ${due_date}`;
  if (due_date !== null) return `Due ${due_date}`;
  return start_date === null ? 'No dates' : `From ${start_date}`;
};

const milestoneRow = (looking: Looking, milestone: MilestoneRecord): Html =>
  thing(
    html`<a href="${pathOf(looking, milestone.web_url)}">${milestone.title}</a> ${milestone.expired && milestone.state === 'active' && tag('Expired', 'warning')}`,
    span(milestone),
    milestone.state === 'closed' && stateTag('closed'),
  );

export async function showMilestones(looking: Looking): Promise<Answer> {
  const home = await homeOf(looking);
  const milestones = await looking.list<MilestoneRecord>(`${home.api}/milestones`, {
    id: String(home.id),
    include_ancestors: 'true',
    page: String(pageNumber(looking)),
  });
  const body = html`<h1>Milestones</h1>
${listOf(
  milestones.items.map((milestone) => milestoneRow(looking, milestone)),
  'No milestones.',
)}
${pager(looking, milestones)}`;
  return showIn(looking, home, { title: 'Milestones', tab: 'Milestones', body });
}

/** Addresses have the number of a milestone in its place; endpoints take its id. */
export async function showMilestone(looking: Looking): Promise<Answer> {
  const home = await homeOf(looking);
  const id = String(home.id);
  const iid = numberIn(looking, 'iid');
  const { items } = await looking.list<MilestoneRecord>(`${home.api}/milestones`, { id, iids: [iid] });
  const [milestone] = items;
  if (!milestone) throw notFound('Milestone');
  const [issues, description] = await Promise.all([
    looking.list<IssueRecord>(`${home.api}/milestones/:milestone_id/issues`, {
      id,
      milestone_id: String(milestone.id),
      page: String(pageNumber(looking)),
    }),
    proseOf(looking, milestone.description, { project: home.project }),
  ]);
  const body = html`<h1>${milestone.title}</h1>
<p class="below">${stateTag(milestone.state)} ${milestone.expired && milestone.state === 'active' && tag('Expired', 'warning')}</p>
${facts(['Starts', milestone.start_date], ['Due', milestone.due_date], ['Made', timeOf(milestone.created_at)])}
${description}
<h2>Issues</h2>
${listOf(
  issues.items.map((issue) => issueRow(looking, issue)),
  'No issues that you may see.',
)}
${pager(looking, issues)}`;
  return showIn(looking, home, { title: milestone.title, tab: 'Milestones', body });
}

/** The labels that issues there can have, each with the list of its issues. */
export async function showLabels(looking: Looking): Promise<Answer> {
  const home = await homeOf(looking);
  const labels = await looking.list<LabelBasicRecord>(`${home.api}/labels`, {
    id: String(home.id),
    page: String(pageNumber(looking)),
    per_page: '50',
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
${pager(looking, labels)}`;
  return showIn(looking, home, { title: 'Labels', tab: 'Labels', body });
}
