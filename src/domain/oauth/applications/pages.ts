/** The pages on which people register applications: for themselves, for a group, for the instance; and revoke access. */
import { authorizeGroup, authorizeInstance } from '../../../kernel/access/find.ts';
import { ADMIN_PATH, adminTabs, requireAdministrator } from '../../../kernel/api/admin-page.ts';
import {
  type Page,
  type PageContext,
  pageNumber,
  redirect,
  sessionPage,
  showPage,
  tokenField,
} from '../../../kernel/api/page.ts';
import type { Session } from '../../../kernel/identity/sessions.ts';
import { forbidden, notFound, type ValidationMessages } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import type { Method } from '../../../platform/http/server/server.ts';
import type { PageRequest } from '../../../platform/pagination/page.ts';
import {
  type ApplicationRow,
  createApplication,
  deleteApplication,
  findApplication,
  listApplications,
  listAuthorizations,
  type Owner,
  type Registered,
  renewSecret,
  revokeAuthorization,
  updateApplication,
} from './actions.ts';
import { checkApplication } from './rules.ts';
import {
  type ApplicationsPage,
  applicationDetails,
  applicationForm,
  applicationList,
  authorizationList,
  emptyForm,
  type FormValues,
  tickedScopes,
} from './views.ts';

type Context = PageContext<Session>;
/** A page of applications, and the owner whom the signed-in user may act for. */
type Opened = { place: ApplicationsPage; owner: Owner };

/** A path of an owner's pages; `open` authorizes every page below it. */
type OwnerRoute = { path: string; open(context: Context): Promise<Opened> };

const OWN = '/-/profile/applications';

const ownRoute: OwnerRoute = {
  path: OWN,
  open: async ({ session, settings }) => ({
    owner: { of: 'user', user: session.actor },
    place: {
      base: OWN,
      title: 'Your applications',
      about: 'Programs that sign users in with this site, registered by you.',
      mayTrust: false,
      open: settings.user_oauth_applications || session.actor.admin,
    },
  }),
};

const groupRoute: OwnerRoute = {
  path: '/groups/:id/-/settings/applications',
  async open({ services, session, request }) {
    const group = await authorizeGroup(
      services.database.points,
      session.actor,
      'update_group',
      request.params.id ?? '',
    );
    const place = {
      base: `/groups/${group.id}/-/settings/applications`,
      title: `Applications of ${group.row.name}`,
      about: 'Programs that sign users in with this site. Every owner of the group manages them.',
      mayTrust: false,
      open: true,
    };
    return { owner: { of: 'group', group }, place };
  },
};

const instanceRoute: OwnerRoute = {
  path: '/admin/applications',
  async open(context) {
    requireAdministrator(context);
    const { instance } = authorizeInstance(context.session.actor);
    const place = {
      base: '/admin/applications',
      title: 'Applications of the instance',
      about: 'Programs that sign users in with this site, and belong to nobody but it.',
      mayTrust: true,
      open: true,
    };
    return { owner: { of: 'instance', instance }, place };
  },
};

const PER_PAGE = 50;

function pageOf(text: string): PageRequest & { kind: 'offset' } {
  const page = pageNumber(text);
  return { kind: 'offset', page, perPage: PER_PAGE, offset: (page - 1) * PER_PAGE, countLimit: 0 };
}

/** The application that the path names; 404 for a text that is no id. */
function idOf({ request }: Context): number {
  const text = request.params.application_id ?? '';
  if (!/^\d{1,15}$/.test(text)) throw notFound('Application');
  return Number(text);
}

const show = (context: Context, title: string, body: Html, status = 200): HttpResponse =>
  showPage(context.services, context.session, {
    title,
    body: context.request.path.startsWith(`${ADMIN_PATH}/`) ? html`${adminTabs(context)}${body}` : body,
    status,
  });

const token = ({ services, session }: Context): Html => tokenField(services, session);

async function showList(context: Context, { place, owner }: Opened): Promise<HttpResponse> {
  const { db, services, session, field } = context;
  const page = pageOf(field('page'));
  const { items, more } = await listApplications(db, owner, page);
  const authorized =
    owner.of === 'user'
      ? authorizationList(
          place.base,
          token(context),
          await listAuthorizations(services.database.sql, session.actor.id),
        )
      : undefined;
  const view = { applications: items, page: page.page, more, ...(authorized && { authorized }) };
  return show(context, place.title, applicationList(place, view));
}

function showForm(
  context: Context,
  page: ApplicationsPage,
  values: FormValues,
  application?: ApplicationRow,
  problems: readonly string[] = [],
): HttpResponse {
  const body = applicationForm(page, {
    token: token(context),
    values,
    problems,
    ...(application && { application }),
  });
  const title = application ? `Edit ${application.name}` : 'Register an application';
  return show(context, title, body, problems.length === 0 ? 200 : 422);
}

const showSecret = (context: Context, page: ApplicationsPage, { row, secret }: Registered): HttpResponse =>
  show(context, row.name, applicationDetails(page, { token: token(context), application: row, secret }));

const sentValues = ({ field }: Context): FormValues => ({
  name: field('name'),
  redirectUris: field('redirect_uri'),
  scopes: tickedScopes(field),
  confidential: field('confidential') === '1',
  trusted: field('trusted') === '1',
});

const valuesOf = (row: ApplicationRow): FormValues => ({
  name: row.name,
  redirectUris: row.redirect_uris.join('\n'),
  scopes: row.scopes,
  confidential: row.confidential,
  trusted: row.trusted,
});

const labels: Record<string, string> = { name: 'Name', redirect_uri: 'Redirect URI', scopes: 'Scopes' };

const sentences = (problems: ValidationMessages): string[] =>
  Object.entries(problems).flatMap(([property, texts]) =>
    Array.isArray(texts) ? texts.map((text) => `${labels[property] ?? property} ${text}`) : [],
  );

const check = ({ settings }: Context, values: FormValues) =>
  checkApplication({ ...values, scopes: values.scopes.join(' ') }, settings.oauth_plain_http_allowed);

/** Refuses where registering is turned off, whichever form was sent. */
function requireOpen(page: ApplicationsPage): void {
  if (!page.open) throw forbidden('registering applications is turned off on this site');
}

async function create(context: Context, { place: page, owner }: Opened): Promise<HttpResponse> {
  requireOpen(page);
  const values = sentValues(context);
  const checked = check(context, values);
  if ('problems' in checked) return showForm(context, page, values, undefined, sentences(checked.problems));
  const trusted = page.mayTrust && values.trusted;
  const made = await createApplication(context.db, context.session.actor, owner, checked.draft, trusted);
  return showSecret(context, page, made);
}

async function update(context: Context, { place: page, owner }: Opened): Promise<HttpResponse> {
  const { db, session } = context;
  const application = await findApplication(db, owner, idOf(context));
  const values = sentValues(context);
  const checked = check(context, values);
  if ('problems' in checked) return showForm(context, page, values, application, sentences(checked.problems));
  const trusted = page.mayTrust && values.trusted;
  await updateApplication(db, session.actor, owner, application.id, checked.draft, trusted);
  return redirect(`${page.base}/${application.id}`);
}

type Step = [Method, string, (context: Context, opened: Opened) => Promise<HttpResponse>];

const steps: readonly Step[] = [
  ['GET', '', showList],
  ['POST', '', create],
  [
    'GET',
    '/new',
    async (context, { place: page }) => {
      requireOpen(page);
      return showForm(context, page, emptyForm);
    },
  ],
  [
    'GET',
    '/:application_id',
    async (context, { place: page, owner }) => {
      const application = await findApplication(context.db, owner, idOf(context));
      return show(
        context,
        application.name,
        applicationDetails(page, { token: token(context), application }),
      );
    },
  ],
  ['POST', '/:application_id', update],
  [
    'GET',
    '/:application_id/edit',
    async (context, { place: page, owner }) => {
      const application = await findApplication(context.db, owner, idOf(context));
      return showForm(context, page, valuesOf(application), application);
    },
  ],
  [
    'POST',
    '/:application_id/renew',
    async (context, { place: page, owner }) =>
      showSecret(context, page, await renewSecret(context.db, context.session.actor, owner, idOf(context))),
  ],
  [
    'POST',
    '/:application_id/delete',
    async (context, { place: page, owner }) => {
      await deleteApplication(context.db, context.session.actor, owner, idOf(context));
      return redirect(page.base);
    },
  ],
];

async function revoke(context: Context): Promise<HttpResponse> {
  const { db, session, request } = context;
  const id = request.params.application_id === 'password' ? null : idOf(context);
  if (!(await revokeAuthorization(db, session.actor, id))) throw notFound('Application');
  return redirect(OWN);
}

/**
 * The pages of applications: one's own, a group's, the instance's; and the revocation of one's
 * authorizations.
 */
export const applicationPages: Page[] = [
  ...[ownRoute, groupRoute, instanceRoute].flatMap((route) =>
    steps.map(([method, path, response]) =>
      sessionPage({
        method,
        path: `${route.path}${path}`,
        handle: async (context) => response(context, await route.open(context)),
      }),
    ),
  ),
  sessionPage({
    method: 'POST',
    path: `${OWN}/authorized/:application_id/revoke`,
    handle: revoke,
  }),
];
