/** What the pages of issues, epics and merge requests have in common: rows, labels, and choices of a state. */
import { type Html, type HtmlValue, html } from '../../../platform/http/pages/html.ts';
import type { LabelBasicRecord } from '../../planning/index.ts';
import { choices, labelChip, personLink, stateTag, tag, thing, timeOf } from '../view/components.ts';
import type { ViewContext } from '../view/view-context.ts';

/** The path of an address of this site. */
export const pathOf = (view: ViewContext, address: string): string => {
  const home = view.services.baseUrl();
  return address.startsWith(`${home}/`) ? address.slice(home.length) : address;
};

/** Labels with their details, as chips; names alone are left out. */
export const chips = (labels: readonly (string | LabelBasicRecord)[], base?: string): Html[] =>
  labels.flatMap((label) =>
    typeof label === 'string'
      ? []
      : labelChip(
          label,
          base === undefined ? undefined : `${base}?label_name=${encodeURIComponent(label.name)}`,
        ),
  );

type Person = { name: string; username: string };

/** What the rows of lists show; a record of a simple view has less. */
type Listed = {
  title: string;
  web_url: string;
  state: string;
  created_at: string;
  author?: Person;
  assignees?: readonly Person[];
  labels?: readonly (string | LabelBasicRecord)[];
  milestone?: { title: string } | null;
};

/** A row of a list, where it is referred to as `reference`. */
export const workRow = (
  view: ViewContext,
  listed: Listed,
  reference: string,
  { marks, below }: { marks?: HtmlValue; below?: HtmlValue } = {},
): Html =>
  thing(
    html`<a href="${pathOf(view, listed.web_url)}">${listed.title}</a> ${marks} ${listed.state !== 'opened' && stateTag(listed.state)} ${chips(listed.labels ?? [])}`,
    html`${reference} · opened ${timeOf(listed.created_at)}${listed.author && html` by ${personLink(listed.author)}`}${
      listed.milestone && html` · ${listed.milestone.title}`
    }${below}`,
    html`${listed.assignees?.map((person) => html`<span class="assignee" title="Assigned">@${person.username}</span> `)}`,
  );

type State = readonly [name: string, label: string];

/** Links to the same list with another of the states, of which one is here. */
export const stateLinks = (view: ViewContext, states: readonly State[], here: string): Html =>
  choices(
    'State',
    states.map(([name, label]) => {
      const query = new URLSearchParams(view.request.query);
      query.delete('page');
      query.set('state', name);
      return { href: `?${query}`, label, here: name === here };
    }),
  );

const states: readonly State[] = [
  ['opened', 'Open'],
  ['closed', 'Closed'],
  ['all', 'All'],
];

/** The requested state; open ones unless another is named. */
export const stateFilter = ({ choice }: Pick<ViewContext, 'choice'>): 'opened' | 'closed' | 'all' =>
  choice('state', ['opened', 'closed', 'all']);

/** Links to the same list with another state. */
export const stateChoices = (view: ViewContext): Html => stateLinks(view, states, stateFilter(view));

/** The labels that a list is narrowed to, and the way to the whole list at `address`. */
export const narrowedTo = (names: readonly string[], address: string): Html | false =>
  names.length > 0 &&
  html`<p class="below">with ${names.map((name) => html`${tag(name)} `)}<a href="${address}">Show all</a></p>`;
