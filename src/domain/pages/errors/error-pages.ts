/**
 * Errors that applications reported: their list, and one with its stack, its tags and a histogram of its
 * counts.
 */
import { now } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, type HtmlValue, html } from '../../../platform/http/pages/html.ts';
import {
  type ErrorDetailRecord,
  type ErrorRecord,
  errorEndpoint,
  errorsEndpoint,
  type WholeEventRecord,
} from '../../error-tracking/index.ts';
import {
  choices,
  facts,
  listOf,
  oneLine,
  pageNumber,
  pager,
  tag,
  thing,
  timeOf,
  wordTag,
} from '../view/components.ts';
import { projectAddress, projectOf, showInProject } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';
import { histogram } from './histogram.ts';
import { stackView } from './stack.ts';

const statuses = [
  ['unresolved', 'Unresolved'],
  ['resolved', 'Resolved'],
  ['ignored', 'Ignored'],
  ['all', 'All'],
] as const;
const orders = [
  ['last_seen', 'Last seen'],
  ['first_seen', 'First seen'],
  ['frequency', 'Most events'],
] as const;
const periods = [
  ['day', '24 hours'],
  ['week', '7 days'],
  ['month', '30 days'],
] as const;
const hoursOf = { day: 24, week: 7 * 24, month: 30 * 24 };

type Choice<Value extends string = string> = readonly [value: Value, label: string];

/** The choice that the address names; the first one where it names none. */
const chosen = <Value extends string>(
  { choice }: Pick<ViewContext, 'choice'>,
  name: string,
  [first, ...others]: readonly [Choice<Value>, ...Choice<Value>[]],
): Value => choice(name, [first[0], ...others.map(([value]) => value)]);

/** Links to the same page with another choice. */
function choicesOf(
  view: ViewContext,
  name: string,
  title: string,
  all: readonly Choice[],
  here: string,
): Html {
  const links = all.map(([value, label]) => {
    const query = new URLSearchParams(view.request.query);
    query.delete('page');
    query.set(name, value);
    return { href: `?${query}`, label, here: value === here };
  });
  return choices(title, links);
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

const statusTag = ({ status, regressed_at }: ErrorRecord): HtmlValue => {
  if (status !== 'unresolved') return wordTag(status);
  return regressed_at !== null && tag('Came back', 'urgent');
};

const errorRow = (address: string, error: ErrorRecord): Html =>
  thing(
    html`<a href="${address}/${error.id}/details">${oneLine(error.name) || 'Error'}</a> ${wordTag(error.level)} ${statusTag(error)}`,
    html`${error.description !== '' && html`${oneLine(error.description)}<br>`}${
      error.actor !== '' && html`<code>${oneLine(error.actor)}</code> · `
    }last seen ${timeOf(error.last_seen)}`,
    html`${counted(error.events_count, 'event', 'events')}<br>${counted(error.users_count, 'person', 'people')}`,
  );

/** Errors of a project, those that are unresolved unless another status is chosen. */
export async function showErrors(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const status = chosen(view, 'status', statuses);
  const order = chosen(view, 'order_by', orders);
  const errors = await view.list(errorsEndpoint, {
    id: project.id,
    status,
    order_by: order,
    page: pageNumber(view),
  });
  const address = `${projectAddress(project)}/-/error_tracking`;
  const body = html`<h1>Errors</h1>
${choicesOf(view, 'status', 'Status', statuses, status)}
${choicesOf(view, 'order_by', 'Order', orders, order)}
${listOf(
  errors.items.map((error) => errorRow(address, error)),
  'No errors.',
)}
${pager(view, errors)}`;
  return showInProject(view, project, { title: 'Errors', tab: 'Errors', body });
}

const MAX_BREADCRUMBS = 50;

function breadcrumbsView(crumbs: WholeEventRecord['breadcrumbs']): HtmlValue {
  if (crumbs.length === 0) return undefined;
  const rows = crumbs
    .slice(-MAX_BREADCRUMBS)
    .map(({ timestamp, category, level, message }) =>
      thing(
        html`${oneLine(message ?? '') || '(no message)'}`,
        html`${category !== null && html`${oneLine(category)} · `}${timestamp !== null && timeOf(timestamp)}`,
        level !== null && wordTag(oneLine(level)),
      ),
    );
  return html`<h2>What went before</h2>
${listOf(rows, '')}`;
}

/** Joins the parts that are not null on one line. */
const between = (parts: readonly (string | null)[], separator = ' · '): string =>
  parts.flatMap((part) => (part === null || part === '' ? [] : oneLine(part))).join(separator);

const eventView = (event: WholeEventRecord): Html => html`<h2>Latest event</h2>
${facts(
  ['Event', html`<code class="whole">${event.event_id}</code>`],
  ['At', timeOf(event.occurred_at)],
  ['Environment', event.environment],
  ['Release', event.release],
  ['Transaction', event.transaction],
  ['Server', event.server_name],
  ['Person', event.user && between([event.user.username, event.user.email, event.user.id])],
  ['Request', event.request && between([event.request.method, event.request.url], ' ')],
)}
${event.abridged && html`<p class="none">It came when many did: its surroundings are not kept.</p>`}
${event.message !== null && html`<pre class="listing">${event.message}</pre>`}
${stackView(event)}
${breadcrumbsView(event.breadcrumbs)}`;

const tagsView = (tags: ErrorDetailRecord['tags']): HtmlValue =>
  tags.length > 0 &&
  html`<h2>Tags</h2>
${facts(
  ...tags.map(({ key, values }): [string, HtmlValue] => [
    oneLine(key),
    values.map(
      ({ value, events }) =>
        html`<div>${oneLine(value)} <span class="below">${events.toLocaleString('en')}</span></div>`,
    ),
  ]),
)}`;

/** One error; its status is changed through the API. */
export async function showError(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const id = view.param('error_id');
  if (!/^[1-9]\d{0,14}$/.test(id)) throw notFound('Error');
  const error = await view.one(errorEndpoint, { id: project.id, error_id: Number(id) });
  const period = chosen(view, 'period', periods);
  const address = projectAddress(project);
  const here = `${view.services.baseUrl()}/`;
  const body = html`<p class="below"><a href="${address}/-/error_tracking">Errors</a> · ${error.id}</p>
<h1>${oneLine(error.name) || 'Error'}</h1>
<p class="below">${wordTag(error.level)} ${wordTag(error.status)} ${
    error.regressed_at !== null && html`came back ${timeOf(error.regressed_at)}`
  }</p>
${error.description !== '' && html`<pre class="listing">${error.description}</pre>`}
${facts(
  ['Where', error.actor !== '' && html`<code>${oneLine(error.actor)}</code>`],
  ['Events', error.events_count.toLocaleString('en')],
  ['People', error.users_count.toLocaleString('en')],
  ['First seen', timeOf(error.first_seen)],
  ['Last seen', timeOf(error.last_seen)],
  ['First release', error.first_release],
  ['Last release', error.last_release],
  ['Resolved', error.resolved_at !== null && timeOf(error.resolved_at)],
  [
    'Issue',
    error.issue_iid !== null &&
      html`<a href="${address}/-/issues/${error.issue_iid}">#${error.issue_iid}</a>`,
  ],
  [
    'Tracker',
    error.web_url !== '' &&
      !error.web_url.startsWith(here) &&
      html`<a href="${error.web_url}" rel="nofollow noreferrer noopener">Look at it there</a>`,
  ],
)}
<h2>Events per hour</h2>
${choicesOf(view, 'period', 'Period', periods, period)}
${histogram(error.counts, now(), hoursOf[period])}
${tagsView(error.tags)}
${error.latest_event ? eventView(error.latest_event) : html`<p class="none">None of its events are kept.</p>`}`;
  return showInProject(view, project, { title: oneLine(error.name) || 'Error', tab: 'Errors', body });
}
