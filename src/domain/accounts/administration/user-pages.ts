/** The pages on which administrators let people in, block them, make them administrators, and make accounts. */
import {
  type AdminContext,
  type AdminNotice,
  adminPage,
  adminToken,
  doneNote,
  showAdminPage,
} from '../../../kernel/api/admin-page.ts';
import {
  type FormProblems,
  formProblems,
  hasProblems,
  noProblems,
} from '../../../kernel/api/form-problems.ts';
import { type Page, redirect } from '../../../kernel/api/page.ts';
import type { UniqueIndexes } from '../../../platform/db/errors.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { encodeCursor } from '../../../platform/pagination/pagination.ts';
import { newUserEndpoint, userChangesEndpoint, userEndpoint, usersEndpoint } from '../users/routes.ts';
import type { StateChange } from '../users/rules.ts';
import { approvalEndpoint, rejectionEndpoint, stateEndpoints } from './admin-routes.ts';
import { isUserChange, type UserChange, userChanges } from './user-changes.ts';
import {
  type NewUserValues,
  newUserForm,
  USERS_PATH,
  type UserList,
  userList,
  userLists,
  userPage,
} from './user-views.ts';

const PER_PAGE = 50;

const isList = (name: string): name is UserList => Object.hasOwn(userLists, name);

const filters = {
  all: { exclude_internal: true, without_project_bots: true },
  waiting: { pending_approval: true },
  admins: { admins: true },
  blocked: { blocked: true },
  inactive: { exclude_active: true, exclude_internal: true },
} as const satisfies Record<UserList, object>;

/** What was done to an account, for the path after the redirect. */
const doneWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(userChanges).map(([change, { done }]) => [change, done])),
  made: 'The account is made.',
};

async function showList(context: AdminContext): Promise<HttpResponse> {
  const { api, field } = context;
  const show = field('show');
  const list = isList(show) ? show : 'all';
  const search = field('search').trim();
  const cursor = field('cursor');
  const { items, more, last } = await api.list(usersEndpoint, {
    ...filters[list],
    pagination: 'keyset',
    order_by: 'id',
    sort: 'desc',
    per_page: PER_PAGE,
    ...(search !== '' && { search }),
    ...(cursor !== '' && { cursor }),
  });
  const following = {
    show: list,
    ...(search !== '' && { search }),
    cursor: encodeCursor({ id: last?.id ?? null }),
  };
  const body = userList({
    users: items,
    list,
    search,
    next: more ? `${USERS_PATH}?${new URLSearchParams(following)}` : undefined,
    later: cursor !== '',
    token: adminToken(context),
    note: doneNote(context, doneWords),
  });
  return showAdminPage(context, { title: 'Users', body });
}

/** The id in the path; 404 for a text that is none. */
function idOf({ request }: AdminContext): number {
  const text = request.params.id ?? '';
  if (!/^\d{1,15}$/.test(text)) throw notFound('User');
  return Number(text);
}

async function showUser(context: AdminContext, refused?: Failure): Promise<HttpResponse> {
  const { api, session } = context;
  const user = await api.one(userEndpoint, { id: idOf(context) });
  const body = userPage({
    user,
    self: user.id === session.actor.id,
    token: adminToken(context),
    note: doneNote(context, doneWords),
    problems: refused ? problemsOf(refused) : [],
  });
  return showAdminPage(context, { title: user.name, body, status: refused?.status ?? 200 });
}

const problemsOf = (refused: Failure): string[] => {
  const { fields, general } = formProblems(refused, ['admin']);
  return [...fields.values(), ...general];
};

/** Calls the endpoint of the change. */
async function carryOut({ api }: AdminContext, id: number, change: UserChange): Promise<void> {
  if (change === 'approve') await api.change(approvalEndpoint, { id });
  else if (change === 'reject') await api.change(rejectionEndpoint, { id });
  else if (change === 'make_administrator') await api.change(userChangesEndpoint, { id, admin: true });
  else if (change === 'take_administrator') await api.change(userChangesEndpoint, { id, admin: false });
  else await api.change(stateEndpointOf(change), { id });
}

function stateEndpointOf(change: StateChange) {
  const endpoint = stateEndpoints.get(change);
  if (!endpoint) throw notFound('Page');
  return endpoint;
}

async function changeUser(context: AdminContext): Promise<HttpResponse> {
  const id = idOf(context);
  const change = context.request.params.change ?? '';
  if (!isUserChange(change)) throw notFound('Page');
  try {
    await carryOut(context, id, change);
  } catch (error) {
    // The page of the account shows what it is now, and why the change was refused.
    if (error instanceof Failure && error.kind !== 'not_found' && error.kind !== 'unavailable')
      return showUser(context, error);
    throw error;
  }
  const list = context.field('list');
  if (isList(list)) return redirect(`${USERS_PATH}?show=${list}&done=${change}`);
  // Of an account that is removed no page is left.
  return redirect(
    change === 'reject' ? `${USERS_PATH}?done=${change}` : `${USERS_PATH}/${id}?done=${change}`,
  );
}

const emptyValues: NewUserValues = {
  name: '',
  username: '',
  email: '',
  password_by: 'mail',
  admin: false,
  external: false,
};

function showForm(context: AdminContext, values: NewUserValues, problems: FormProblems): HttpResponse {
  const minimum = context.settings.minimum_password_length;
  const body = newUserForm({ values, problems, minimum, token: adminToken(context) });
  return showAdminPage(context, { title: 'New user', body, status: hasProblems(problems) ? 422 : 200 });
}

async function makeUser(context: AdminContext): Promise<HttpResponse> {
  const { api, field } = context;
  const values: NewUserValues = {
    name: field('name'),
    username: field('username').trim(),
    email: field('email').trim(),
    password_by: field('password_by') === 'now' ? 'now' : 'mail',
    admin: field('admin') === '1',
    external: field('external') === '1',
  };
  const { password_by, external, ...given } = values;
  try {
    const { id } = await api.change(newUserEndpoint, {
      ...given,
      // Else the setting for new users decides.
      ...(external && { external }),
      ...(password_by === 'mail' ? { reset_password: true } : { password: field('password') }),
    });
    return redirect(`${USERS_PATH}/${id}?done=made`);
  } catch (error) {
    return showForm(context, values, formProblems(error, [...Object.keys(values), 'password']));
  }
}

/** Who waits to be let in, for the first page. */
export async function waitingNotice({ api }: AdminContext): Promise<AdminNotice | undefined> {
  const { items, total } = await api.list(usersEndpoint, { pending_approval: true, per_page: 1 });
  if (items.length === 0) return undefined;
  const text =
    total === undefined
      ? 'Very many people wait to be let in.'
      : total === 1
        ? 'One person waits to be let in.'
        : `${total} people wait to be let in.`;
  return { text, path: `${USERS_PATH}?show=waiting` };
}

/** `unique` are the indexes of accounts. */
export const userPages = (unique: UniqueIndexes): Page[] => [
  adminPage({ method: 'GET', path: USERS_PATH, handle: showList }),
  adminPage({ method: 'POST', path: USERS_PATH, unique, handle: makeUser }),
  adminPage({
    method: 'GET',
    path: `${USERS_PATH}/new`,
    handle: async (context) => showForm(context, emptyValues, noProblems),
  }),
  adminPage({ method: 'GET', path: `${USERS_PATH}/:id`, handle: (context) => showUser(context) }),
  adminPage({ method: 'POST', path: `${USERS_PATH}/:id/:change`, unique, handle: changeUser }),
];
