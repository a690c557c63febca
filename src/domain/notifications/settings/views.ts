/** Forms of notification settings, as HTML. */

import { checkbox, choices, pageLinks, panel, problemList, select } from '../../../kernel/api/forms.ts';
import type { Tier } from '../../../kernel/config.ts';
import { isLanguage, languages } from '../../../kernel/mail/texts.ts';
import type { Level } from '../../../kernel/namespaces/notification-levels.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { type ChosenEventName, eventsOf, shownChoices } from './levels.ts';
import { timezones } from './locales.ts';
import type { Setting } from './notification-settings.ts';
import type { Mailbox, ScopeRow } from './queries.ts';

export const SETTINGS_PATH = '/-/profile/notifications';

/** The settings page of one group or project. */
export const scopePath = ({ kind, id }: Pick<ScopeRow, 'kind' | 'id'>): string =>
  `${SETTINGS_PATH}/${kind}s/${id}`;

/** In the order of the form, from most to fewest events. */
const levelWords: Record<Level, { label: string; hint: string }> = {
  global: { label: 'As for the rest', hint: 'What you said of the group above it, or else of everything.' },
  watch: { label: 'Everything', hint: 'Whatever happens, as far as you may see it.' },
  custom: { label: 'What you choose', hint: 'What you take part in, and the events that you choose below.' },
  participating: {
    label: 'What you take part in',
    hint: 'What you wrote, are assigned to, follow, or are mentioned in.',
  },
  mention: { label: 'Mentions', hint: 'When somebody mentions you.' },
  disabled: { label: 'Nothing', hint: 'Not even when you are mentioned.' },
};

const eventWords: Record<ChosenEventName, string> = {
  new_release: 'A release is published',
  new_note: 'Somebody comments',
  new_issue: 'An issue is opened',
  reopen_issue: 'An issue is reopened',
  close_issue: 'An issue is closed',
  reassign_issue: 'An issue is assigned to others',
  issue_due: 'An issue is due',
  new_merge_request: 'A merge request is opened',
  push_to_merge_request: 'Somebody pushes to a merge request',
  reopen_merge_request: 'A merge request is reopened',
  close_merge_request: 'A merge request is closed',
  reassign_merge_request: 'A merge request is assigned to others',
  change_reviewer_merge_request: 'The reviewers of a merge request change',
  merge_merge_request: 'A merge request is merged',
  failed_pipeline: 'A pipeline fails',
  fixed_pipeline: 'A pipeline is fixed',
  success_pipeline: 'A pipeline succeeds',
  moved_project: 'A project moves',
  merge_when_pipeline_succeeds: 'A merge request is to be merged when its checks succeed',
  new_epic: 'An epic is opened',
  approver: 'You may approve a merge request',
};

/** The global setting has no other to refer to. */
const levelChoices = ({ level }: Setting, rest: boolean): Html =>
  choices({
    name: 'level',
    label: 'What you hear of by mail',
    value: level,
    options: Object.entries(levelWords)
      .filter(([value]) => rest || value !== 'global')
      .map(([value, words]) => ({ value, ...words })),
  });

/** Each event is on, off, or at its default. */
function eventChoices({ level, events }: Setting, tier: Tier): Html {
  const usual = shownChoices({}, tier);
  const lists = eventsOf(tier).map((event) =>
    select({
      name: event,
      label: eventWords[event],
      value: String(events[event] ?? ''),
      options: [
        { value: '', label: usual[event] ? 'By default: on' : 'By default: off' },
        { value: 'true', label: 'On' },
        { value: 'false', label: 'Off' },
      ],
    }),
  );
  return html`<details${level === 'custom' && html` open`}>
<summary>Events that you choose</summary>
<fieldset>
<legend>For “${levelWords.custom.label}”</legend>
${lists}
</fieldset>
</details>`;
}

export type Form = { token: Html; setting: Setting; tier: Tier; saved: boolean; problems: readonly string[] };

const outcome = ({ saved, problems }: Form): (Html | undefined | false)[] => [
  problemList(problems),
  saved && html`<p class="note" role="status">Saved.</p>`,
];

const mailbox = (
  { email, notification_email, notified_of_own_activity, preferred_language, timezone }: Mailbox,
  own: readonly string[],
): Html =>
  html`${select({
    name: 'notification_email',
    label: 'Where mail goes',
    value: notification_email ?? '',
    options: [
      { value: '', label: `Your primary address (${email})` },
      ...own
        .filter((each) => each.toLowerCase() !== email.toLowerCase())
        .map((each) => ({ value: each, label: each })),
    ],
    hint: 'Addresses that you have confirmed.',
  })}
${select({
  name: 'language',
  label: 'Language of mail',
  value: isLanguage(preferred_language) ? preferred_language : 'en',
  options: Object.entries(languages).map(([value, label]) => ({ value, label })),
})}
${select({
  name: 'timezone',
  label: 'Time zone',
  value: timezone ?? '',
  options: [
    { value: '', label: 'UTC' },
    ...[...new Set([...timezones(), ...(timezone === null ? [] : [timezone])])].map((value) => ({
      value,
      label: value.replaceAll('_', ' '),
    })),
  ],
  hint: 'What is due tomorrow is told in your morning.',
})}
${checkbox({
  name: 'notified_of_own_activity',
  label: 'Mail me about what I do myself, too',
  checked: notified_of_own_activity,
})}`;

const scopeTable = (places: readonly ScopeRow[]): Html => html`<table>
<thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">By mail</th></tr></thead>
<tbody>
${places.map(
  (place) =>
    html`<tr><td><a href="${scopePath(place)}">${place.full_path}</a></td><td>${place.kind === 'group' ? 'Group' : 'Project'}</td><td>${levelWords[place.level].label}</td></tr>`,
)}
</tbody>
</table>`;

/** The page of the global setting, with the mailbox and a list of groups and projects. */
export const globalPage = (
  form: Form,
  box: { mailbox: Mailbox; own: readonly string[] },
  list: { places: readonly ScopeRow[]; page: number; more: boolean },
): Html =>
  panel(
    'Notifications',
    ...outcome(form),
    html`<form method="post" action="${SETTINGS_PATH}">
${form.token}
${mailbox(box.mailbox, box.own)}
${levelChoices(form.setting, false)}
${eventChoices(form.setting, form.tier)}
<button>Save</button>
</form>
<h2>Groups and projects</h2>
<p>Of each you may say something else, for all that is in it.</p>`,
    list.places.length === 0 ? html`<p>You are in none yet.</p>` : scopeTable(list.places),
    pageLinks(SETTINGS_PATH, list.page, list.more),
  );

export const scopePage = (form: Form, place: Pick<ScopeRow, 'kind' | 'id'>, title: string): Html =>
  panel(
    title,
    ...outcome(form),
    html`<form method="post" action="${scopePath(place)}">
${form.token}
${levelChoices(form.setting, true)}
${eventChoices(form.setting, form.tier)}
<button>Save</button>
</form>
<p class="aside"><a href="${SETTINGS_PATH}">All notifications</a></p>`,
  );
