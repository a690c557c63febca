/** Alerts of a project: their list, and one with its payload and its discussion. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { between, type Html, html } from '../../../platform/http/pages/html.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import {
  type AlertRecord,
  alertConversation,
  alertEndpoint,
  alertImagesEndpoint,
  alertsEndpoint,
  type MetricImageRecord,
  statuses,
} from '../../alerts/index.ts';
import { codeLines } from '../view/code.ts';
import {
  choices,
  facts,
  listOf,
  oneLine,
  pageNumber,
  pager,
  personLink,
  thing,
  timeOf,
  wordTag,
} from '../view/components.ts';
import { discussionsView } from '../view/discussion.ts';
import { numberIn, projectAddress, projectOf, showInProject } from '../view/parents.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';

/** Characters of a payload that are shown. */
const MAX_SHOWN = 100_000;

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

export const alertRow = (project: AuthorizedProject, alert: AlertRecord): Html =>
  thing(
    html`<a href="${projectAddress(project)}/-/alert_management/${alert.iid}/details">${alert.title}</a> ${wordTag(alert.status)} ${wordTag(alert.severity)}`,
    html`#${alert.iid} · since ${timeOf(alert.started_at)} · came ${times(alert.event_count)}${
      alert.service !== null && html` · ${alert.service}`
    }`,
    html`${alert.assignees.map((person) => html`<span class="assignee" title="Assigned">@${person.username}</span> `)}`,
  );

/** Open alerts need attention; all, or those of one status, where the address says so. */
const views = ['open', 'all', ...statuses] as const;
const statusesOf = (view: (typeof views)[number]): (typeof statuses)[number][] =>
  view === 'open' ? ['triggered', 'acknowledged'] : view === 'all' ? [...statuses] : [view];

export async function showAlerts(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const here = view.choice('status', views);
  const alerts = await view.list(alertsEndpoint, {
    id: project.id,
    status: statusesOf(here),
    page: pageNumber(view),
  });
  const links = views.map((name) => ({
    href: `?status=${name}`,
    label: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    here: name === here,
  }));
  const body = html`<h1>Alerts</h1>
${choices('Status', links)}
${listOf(
  alerts.items.map((alert) => alertRow(project, alert)),
  'No alerts.',
)}
${pager(view, alerts)}`;
  return showInProject(view, project, { title: 'Alerts', tab: 'Alerts', body });
}

/** A web address as a link; any other text as text. */
const linkOr = (text: string | null): Html | string | null => {
  const protocol = text === null ? undefined : URL.parse(text)?.protocol;
  return protocol === 'http:' || protocol === 'https:'
    ? html`<a href="${text}" rel="nofollow noreferrer noopener">${oneLine(text ?? '')}</a>`
    : text;
};

/** The pictures of graphs, where this instance has them. */
export async function metricImages(
  view: ViewContext,
  read: () => Promise<Page<MetricImageRecord>>,
): Promise<Html | undefined> {
  if (view.services.config.tier === 'free') return undefined;
  const { items } = await read();
  if (items.length === 0) return undefined;
  return html`<h2>Metrics</h2>
${items.map(
  (image) =>
    html`<figure class="picture"><img src="${image.file_path}" alt="${image.filename}" loading="lazy"><figcaption>${
      image.url === null
        ? (image.url_text ?? image.filename)
        : html`<a href="${image.url}" rel="nofollow noreferrer noopener">${image.url_text ?? image.url}</a>`
    }</figcaption></figure>`,
)}`;
}

function payloadView({ details }: AlertRecord): Html {
  const text = JSON.stringify(details, null, 2);
  return html`<h2>Payload</h2>
${codeLines(text.slice(0, MAX_SHOWN))}
${text.length > MAX_SHOWN && html`<p class="none">The rest is not shown here.</p>`}`;
}

export async function showAlert(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const { id } = project;
  const iid = numberIn(view, 'iid');
  const alert = await view.one(alertEndpoint, { id, alert_iid: iid });
  const [description, images, discussions] = await Promise.all([
    renderedMarkdown(view, alert.description, { project }),
    metricImages(view, () => view.list(alertImagesEndpoint, { id, alert_iid: iid, per_page: 100 })),
    discussionsView(view, (page) => view.list(alertConversation.threads, { id, noteable_id: iid, ...page }), {
      project,
    }),
  ]);
  const body = html`<h1>${alert.title}</h1>
<p class="below">${wordTag(alert.status)} ${wordTag(alert.severity)} came ${times(alert.event_count)} since ${timeOf(alert.started_at)}</p>
${facts(
  ['Assigned to', between(alert.assignees.map(personLink))],
  [
    'Incident',
    alert.issue_iid !== null &&
      html`<a href="${projectAddress(project)}/-/issues/${alert.issue_iid}">#${alert.issue_iid}</a>`,
  ],
  ['Service', alert.service],
  ['Monitoring tool', alert.monitoring_tool],
  ['Hosts', alert.hosts.join(', ')],
  ['Environment', alert.environment_name],
  ['Runbook', linkOr(alert.runbook)],
  ['Query', alert.query !== null && html`<code class="whole">${alert.query}</code>`],
  ['Y-axis', alert.y_label],
  ['Ended', alert.ended_at !== null && timeOf(alert.ended_at)],
)}
${description ?? html`<p class="none">No description.</p>`}
${images}
${payloadView(alert)}
${discussions}`;
  return showInProject(view, project, { title: alert.title, tab: 'Alerts', body });
}
