/** Users as administrators see them, as HTML. */
import { minuteOf } from '../../../kernel/api/admin-page.ts';
import type { FormProblems } from '../../../kernel/api/form-problems.ts';
import { checkbox, choices, hidden, input, problemList } from '../../../kernel/api/forms.ts';
import { type Html, type HtmlValue, html } from '../../../platform/http/pages/html.ts';
import type { UserRecord } from '../users/schema.ts';
import { changesFor, stateWord, type UserChange, userChanges } from './user-changes.ts';

export const USERS_PATH = '/admin/users';

/** The lists of users; the first is shown unless another is asked for. */
export const userLists = {
  all: { label: 'All', none: 'There is nobody.' },
  waiting: { label: 'Waiting for approval', none: 'Nobody waits.' },
  admins: { label: 'Administrators', none: 'There is no other administrator.' },
  blocked: { label: 'Blocked', none: 'Nobody is blocked.' },
  inactive: { label: 'Not active', none: 'Everybody is active.' },
} as const;
export type UserList = keyof typeof userLists;

const stateTag = (state: string): Html =>
  html`<span class="tag ${state === 'active' ? 'open' : state === 'blocked_pending_approval' ? 'warning' : 'closed'}">${stateWord(state)}</span>`;

const quiet = (text: string): Html => html`<span class="tag quiet">${text}</span>`;

const tagsOf = (user: UserRecord): HtmlValue => [
  user.state !== 'active' && html`${stateTag(user.state)} `,
  user.is_admin === true && html`${quiet('Administrator')} `,
  user.bot === true && html`${quiet('Program')} `,
  user.external === true && html`${quiet('External')} `,
  user.locked === true && html`${quiet('Locked')} `,
];

const timeOf = (text: string | null | undefined): HtmlValue => text && minuteOf(new Date(text));

/** The form of a change; a list of users is returned to. A change that is hard to take back is behind a warning. */
function changeForm(user: UserRecord, change: UserChange, token: Html, list?: UserList): Html {
  const words: { label: string; warning?: string } = userChanges[change];
  const form = (style: string): Html =>
    html`<form method="post" action="${USERS_PATH}/${user.id}/${change}">${token}${list && hidden('list', list)}<button class="${style}" aria-label="${words.label}: ${user.name}">${words.label}</button></form>`;
  if (words.warning === undefined) return form('small');
  return html`<details class="ask"><summary aria-label="${words.label}: ${user.name}…">${words.label}…</summary><p>${words.warning}</p>${form('small danger')}</details>`;
}

function item(user: UserRecord, token: Html, list: UserList): Html {
  const changes = user.state === 'blocked_pending_approval' ? (['approve', 'reject'] as const) : [];
  return html`<li><div><div class="what"><a href="${USERS_PATH}/${user.id}">${user.name}</a> ${tagsOf(user)}</div>
<div class="below">@${user.username} · ${user.email} · since ${timeOf(user.created_at)}</div></div>
${changes.length > 0 && html`<div class="changes">${changes.map((change) => changeForm(user, change, token, list))}</div>`}</li>
`;
}

export const userList = (view: {
  users: readonly UserRecord[];
  list: UserList;
  search: string;
  /** The address of the next page. */
  next: string | undefined;
  /** Whether this is a page after the first. */
  later: boolean;
  token: Html;
  note: Html | undefined;
}): Html => {
  const { users, list, search, next, later, token, note } = view;
  const first = `${USERS_PATH}?${new URLSearchParams({ show: list, ...(search !== '' && { search }) })}`;
  return html`${note}
<p class="actions"><a href="${USERS_PATH}/new">New user</a></p>
<nav class="tabs" aria-label="Users">${Object.entries(userLists).map(
    ([name, { label }]) =>
      html`<a href="${USERS_PATH}?show=${name}"${name === list && html` aria-current="page"`}>${label}</a>`,
  )}</nav>
<form class="search" method="get" action="${USERS_PATH}" role="search">${hidden('show', list)}<label for="search">Name, username or whole mail address</label><input id="search" name="search" type="search" value="${search}" maxlength="255" autocomplete="off"><button class="small">Search</button></form>
${
  users.length === 0
    ? html`<p class="none">${search !== '' || later ? 'Nobody else is found.' : userLists[list].none}</p>`
    : html`<ul class="things">
${users.map((user) => item(user, token, list))}</ul>`
}
${(later || next !== undefined) && html`<nav class="pager" aria-label="Pages">${later && html`<a href="${first}">To the first</a>`}${next !== undefined && html`<a rel="next" href="${next}">Next</a>`}</nav>`}`;
};

const fact = (name: string, value: HtmlValue): HtmlValue =>
  value !== null && value !== undefined && value !== '' && html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

export const userPage = (view: {
  user: UserRecord;
  self: boolean;
  token: Html;
  note: Html | undefined;
  problems: readonly string[];
}): Html => {
  const { user, self, token, note, problems } = view;
  const changes = changesFor({ state: user.state, admin: user.is_admin === true, self });
  return html`${problemList(problems)}${note}
<p>${stateTag(user.state)} ${tagsOf({ ...user, state: 'active' })}</p>
<dl class="facts">
${fact('Username', html`<a href="/${user.username}">@${user.username}</a>`)}
${fact('Mail address', html`${user.email}${user.confirmed_at === null && ' (not confirmed)'}`)}
${fact('Since', timeOf(user.created_at))}
${fact('Last sign-in', timeOf(user.current_sign_in_at) ?? 'never')}
${fact('Last here', user.last_activity_on)}
${fact('Two-factor authentication', user.two_factor_enabled === true ? 'on' : 'off')}
${fact('Made by', user.created_by && html`<a href="${USERS_PATH}/${user.created_by.id}">${user.created_by.name}</a>`)}
${fact('Note', user.note)}
</dl>
${self && html`<p class="hint">This is you: others can block or deactivate this account, you cannot.</p>`}
${
  changes.length > 0 &&
  html`<h2>Change</h2>
<div class="changes">${changes.map((change) => changeForm(user, change, token))}</div>`
}
<p class="aside"><a href="${USERS_PATH}">All users</a></p>`;
};

export type NewUserValues = {
  name: string;
  username: string;
  email: string;
  /** How the account gets its password. */
  password_by: 'mail' | 'now';
  admin: boolean;
  external: boolean;
};

export const newUserForm = (form: {
  values: NewUserValues;
  problems: FormProblems;
  minimum: number;
  token: Html;
}): Html => {
  const { values, problems, minimum, token } = form;
  const { name, username, email } = values;
  const problem = (field: string) => problems.fields.get(field);
  const [wrong] = problems.fields.keys();
  const focus = (field: string): boolean => field === (wrong ?? 'name');
  return html`${problemList([...problems.general, ...(problems.fields.size > 0 ? ['The account was not made: see below.'] : [])])}
<form class="narrow" method="post" action="${USERS_PATH}">
${token}
${input({ name: 'name', label: 'Name', value: name, autocomplete: 'off', focus: focus('name'), problem: problem('name') })}
${input({ name: 'username', focus: focus('username'), label: 'Username', value: username, autocomplete: 'off', hint: 'The name in addresses and mentions.', problem: problem('username') })}
${input({ name: 'email', focus: focus('email'), label: 'Mail address', type: 'email', value: email, autocomplete: 'off', problem: problem('email') })}
${choices({
  name: 'password_by',
  label: 'Password',
  value: values.password_by,
  options: [
    { value: 'mail', label: 'By mail', hint: 'A link by which they set one themselves.' },
    { value: 'now', label: 'This one', hint: 'You give it to them.' },
  ],
})}
${input({ name: 'password', focus: focus('password'), label: 'Password that you give them', type: 'password', autocomplete: 'new-password', optional: true, hint: `At least ${minimum} characters; for "This one" only.`, problem: problem('password') })}
${checkbox({ name: 'admin', label: 'Administrator', checked: values.admin, hint: userChanges.make_administrator.warning, problem: problem('admin') })}
${checkbox({ name: 'external', label: 'External', checked: values.external, hint: 'Sees internal projects only where a member.', problem: problem('external') })}
<button>Make the user</button>
</form>`;
};
