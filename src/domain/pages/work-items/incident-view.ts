/** Parts of an incident's page that other issues lack: its alerts, its graphs, and its timeline. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { alertsEndpoint, issueImagesEndpoint, timelineEndpoint } from '../../alerts/index.ts';
import type { IssueRecord } from '../../work-items/index.ts';
import { listOf, personLink, thing, timeOf } from '../view/components.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { alertRow, metricImages } from './alert-pages.ts';

async function alertsView(
  view: ViewContext,
  project: AuthorizedProject,
  iid: number,
): Promise<Html | undefined> {
  if (!project.may('read_alerts')) return undefined;
  const { items } = await view.list(alertsEndpoint, {
    id: project.id,
    issue_iid: iid,
  });
  if (items.length === 0) return undefined;
  return html`<h2>Alerts</h2>
${listOf(
  items.map((alert) => alertRow(project, alert)),
  '',
)}`;
}

async function timelineView(
  view: ViewContext,
  project: AuthorizedProject,
  iid: number,
): Promise<Html | undefined> {
  const { items } = await view.list(timelineEndpoint, {
    id: project.id,
    issue_iid: iid,
    per_page: 100,
  });
  if (items.length === 0) return undefined;
  const rows: Html[] = [];
  for (const event of items)
    rows.push(
      thing(
        await renderedMarkdown(view, event.note, { project }),
        html`${timeOf(event.occurred_at)}${event.author && html` by ${personLink(event.author)}`}`,
      ),
    );
  return html`<h2>Timeline</h2>
${listOf(rows, '')}`;
}

/** The alerts that the reader sees, the pictures and the first hundred entries; nothing for an issue of another type. */
export async function incidentView(
  view: ViewContext,
  project: AuthorizedProject,
  issue: Pick<IssueRecord, 'iid' | 'issue_type'>,
): Promise<(Html | undefined)[]> {
  if (issue.issue_type !== 'incident') return [];
  const { iid } = issue;
  const named = { id: project.id, issue_iid: iid };
  return Promise.all([
    alertsView(view, project, iid),
    metricImages(view, () => view.list(issueImagesEndpoint, { ...named, per_page: 100 })),
    timelineView(view, project, iid),
  ]);
}
