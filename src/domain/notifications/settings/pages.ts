/** Pages of the caller's notification settings. */
import {
  authorizeGroup,
  authorizeProject,
  Moved,
  selectGroups,
  selectProjects,
} from '../../../kernel/access/find.ts';
import {
  type Page,
  type PageContext,
  pageNumber,
  redirect,
  sessionPage,
  showPage,
  tokenField,
} from '../../../kernel/api/page.ts';
import { ownAddresses } from '../../../kernel/identity/addresses/own-address-queries.ts';
import type { Session } from '../../../kernel/identity/sessions.ts';
import { isLanguage } from '../../../kernel/mail/texts.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { changeGlobal, changeSetting, type SettingChange } from './actions.ts';
import { type EventChanges, eventsOf, isLevel } from './levels.ts';
import type { Setting } from './notification-settings.ts';
import { readSettings, type ScopeRow, selectMailbox, selectScopes } from './queries.ts';
import { type Form, globalPage, SETTINGS_PATH, scopePage, scopePath } from './views.ts';

type Context = PageContext<Session>;

const PER_PAGE = 50;
const CHOOSE = 'Choose how much you want to hear of.';

const statusOf = ({ problems }: Form): number => (problems.length === 0 ? 200 : 422);

const formOf = (
  { services, session, field }: Context,
  setting: Setting,
  problems: readonly string[],
): Form => ({
  token: tokenField(services, session),
  setting,
  tier: services.config.tier,
  saved: problems.length === 0 && field('saved') === '1',
  problems,
});

/** The change in a form; undefined for an unknown level. An event neither on nor off gets its default. */
function changeOf({ services, field }: Context): SettingChange | undefined {
  const level = field('level');
  if (!isLevel(level)) return undefined;
  const events: EventChanges = {};
  for (const event of eventsOf(services.config.tier)) {
    const choice = field(event);
    events[event] = choice === 'true' || choice === 'false' ? choice === 'true' : null;
  }
  return { level, events };
}

/** Drops the scopes that the user may not read: settings stay when a member leaves. */
async function seen({ services, session }: Context, places: readonly ScopeRow[]): Promise<ScopeRow[]> {
  const { sql } = services.database;
  const paths = (kind: ScopeRow['kind']) =>
    places.filter((place) => place.kind === kind).map(({ full_path }) => full_path);
  const [groups, projects] = await Promise.all([
    selectGroups(sql, session.actor, 'choose_notifications', paths('group')),
    selectProjects(sql, session.actor, 'choose_notifications', paths('project')),
  ]);
  return places.filter(({ kind, full_path }) =>
    (kind === 'group' ? groups : projects).has(full_path.toLowerCase()),
  );
}

async function showGlobal(context: Context, problems: readonly string[] = []): Promise<HttpResponse> {
  const { db, services, session, field } = context;
  const { id } = session.actor;
  const page = pageNumber(field('page'));
  const mailbox = await selectMailbox(db, id);
  const [setting, own, places] = await Promise.all([
    readSettings(db, id, { kind: 'global' }),
    ownAddresses(db, mailbox),
    selectScopes(db, id, { offset: (page - 1) * PER_PAGE, perPage: PER_PAGE }),
  ]);
  // The global setting cannot refer to another one.
  const said: Setting = setting.level === 'global' ? { ...setting, level: 'participating' } : setting;
  const form = formOf(context, said, problems);
  const list = {
    places: await seen(context, places.slice(0, PER_PAGE)),
    page,
    more: places.length > PER_PAGE,
  };
  const body = globalPage(form, { mailbox, own: [...own.values()] }, list);
  return showPage(services, session, { title: 'Notifications', body, status: statusOf(form) });
}

async function postGlobal(context: Context): Promise<HttpResponse> {
  const { db, session, field } = context;
  const change = changeOf(context);
  if (!change) return showGlobal(context, [CHOOSE]);
  const language = field('language');
  await changeGlobal(db, session.actor, {
    ...change,
    notificationEmail: field('notification_email'),
    notifiedOfOwn: field('notified_of_own_activity') === '1',
    language: isLanguage(language) ? language : undefined,
    timezone: field('timezone') || null,
  });
  return redirect(`${SETTINGS_PATH}?saved=1`);
}

/** The kind of a scope, and a function that authorizes the user for it. */
type ScopeRoute = { kind: ScopeRow['kind']; open(context: Context): Promise<{ id: number; name: string }> };

const scopeRoutes: readonly ScopeRoute[] = [
  {
    kind: 'group',
    async open({ services, session, request }) {
      const { id = '' } = request.params;
      const group = await authorizeGroup(services.database.points, session.actor, 'choose_notifications', id);
      return { id: group.id, name: group.row.full_path };
    },
  },
  {
    kind: 'project',
    async open({ services, session, request }) {
      const { id = '' } = request.params;
      const project = await authorizeProject(
        services.database.points,
        session.actor,
        'choose_notifications',
        id,
      );
      return { id: project.id, name: project.fullPath };
    },
  },
];

async function showScope(
  context: Context,
  { kind, open }: ScopeRoute,
  problems: readonly string[] = [],
): Promise<HttpResponse> {
  const { db, services, session } = context;
  const { id, name } = await open(context);
  const form = formOf(context, await readSettings(db, session.actor.id, { kind, id }), problems);
  const title = `Notifications of ${name}`;
  return showPage(services, session, {
    title,
    body: scopePage(form, { kind, id }, title),
    status: statusOf(form),
  });
}

async function postScope(context: Context, route: ScopeRoute): Promise<HttpResponse> {
  const { db, session } = context;
  const { kind } = route;
  const { id } = await route.open(context);
  const change = changeOf(context);
  if (!change) return showScope(context, route, [CHOOSE]);
  await changeSetting(db, session.actor, { kind, id }, change);
  return redirect(`${scopePath({ kind, id })}?saved=1`);
}

/** An old path redirects to the project's page and changes nothing. */
const following =
  (handle: (context: Context) => Promise<HttpResponse>) =>
  async (context: Context): Promise<HttpResponse> => {
    try {
      return await handle(context);
    } catch (error) {
      if (error instanceof Moved) return redirect(scopePath({ kind: 'project', id: error.projectId }));
      throw error;
    }
  };

/** The pages of the global setting and of each group's and project's. */
export const settingsPages: Page[] = [
  sessionPage({ method: 'GET', path: SETTINGS_PATH, handle: (context) => showGlobal(context) }),
  sessionPage({ method: 'POST', path: SETTINGS_PATH, handle: postGlobal }),
  ...scopeRoutes.flatMap((route) => {
    const path = `${SETTINGS_PATH}/${route.kind}s/:id`;
    return [
      sessionPage({
        method: 'GET',
        path,
        handle: following((context) => showScope(context, route)),
      }),
      sessionPage({
        method: 'POST',
        path,
        handle: following((context) => postScope(context, route)),
      }),
    ];
  }),
];
