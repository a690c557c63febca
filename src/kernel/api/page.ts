/**
 * A page is a route for browsers: it reads the session's cookie, refuses cross-site requests, and renders
 * failures as pages. page() is for HTML what endpoint() is for the API.
 */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import { nameCaller } from '../../platform/fair-share.ts';
import { readBody } from '../../platform/http/bodies/body.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { type Html, html, htmlResponse } from '../../platform/http/pages/html.ts';
import {
  parseUrlEncoded,
  type RawObject,
  refuseUnstorable,
} from '../../platform/http/parameters/raw-parameters.ts';
import type { Method, Route } from '../../platform/http/server/server.ts';
import { sameSecret } from '../../platform/secret.ts';
import { levelAt } from '../access/level-at.ts';
import { readCookie, SESSION_COOKIE } from '../identity/credentials.ts';
import { readSession, type Session } from '../identity/sessions.ts';
import {
  type Broadcast,
  broadcastsAt,
  isFor,
  subjectPath,
  undismissed,
  withOneNotification,
} from '../instance/broadcasts.ts';
import type { Needs, Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { admit } from './gate.ts';
import { layOut, type PageContent } from './layout.ts';

export const SIGN_IN_PATH = '/users/sign_in';
export const TWO_FACTOR_PATH = '/-/profile/two_factor_auth';
/** The form by which an administrator's session enters admin mode, under the public product's address. */
export const ADMIN_MODE_PATH = '/admin/session/new';

export type PageContext<S = Session | undefined> = {
  db: Db;
  services: Services;
  settings: ApplicationSettings;
  request: HttpRequest;
  session: S;
  /** A parameter of the query, or of a submitted form; empty when absent or not text. */
  field(name: string): string;
};

type Common = {
  method: Method;
  path: string;
  /** A protected path: limits POSTs from one address (facts: Rate limits, throttle_protected_paths). */
  protected?: boolean;
  /** A GET that may write. */
  writes?: true;
  /** Reachable with a session that owes two-factor authentication. */
  whileOverdue?: boolean;
};

/** A page is given all services where it is mounted, and hands them to its handler. */
export type Page = (services: Services) => Route;

/** A page for all users; signed-in ones have a session. */
export const page =
  (spec: Common & { handle(context: PageContext): Promise<HttpResponse> }): Page =>
  (services) =>
    toRoute(services, spec, (context) => spec.handle(context));

/**
 * A page for signed-in users: others go to the sign-in page and back. A write needs the session's token, in the field
 * authenticity_token or the header X-CSRF-Token.
 */
export const sessionPage =
  (spec: Common & { handle(context: PageContext<Session>): Promise<HttpResponse> }): Page =>
  (services) =>
    toRoute(services, spec, async (context) => {
      const { session, request } = context;
      if (!session) return redirect(withReturn(SIGN_IN_PATH, request, spec.method));
      if (spec.method !== 'GET' && !hasToken(services, context, session)) throw forged();
      // For convenience: what these pages show is for the rights that the session has.
      if (session.adminMode === false && /^\/admin\/(?!session\b)/.test(request.path))
        return redirect(withReturn(ADMIN_MODE_PATH, request, spec.method));
      return spec.handle({ ...context, session });
    });

function toRoute(
  services: Services,
  spec: Common,
  handle: (context: PageContext) => Promise<HttpResponse>,
): Route {
  const { database } = services;
  const changes = spec.method !== 'GET';

  async function answer(request: HttpRequest): Promise<HttpResponse> {
    const settings = await services.settings.read();
    const token = readCookie(request.headers.cookie?.toString(), SESSION_COOKIE);
    const session = token === undefined ? undefined : await readSession(database.sql, token, settings);
    if (session) nameCaller(`user:${session.actor.id}`);
    try {
      const refused = await admit(services, request, settings, {
        kind: 'page',
        account: session?.actor.id,
        writes: spec.writes ?? changes,
        protected: spec.protected ?? false,
      });
      if (refused) return refused;
      if (changes && !isSameOrigin(request, services.baseUrl())) throw forged();
      if (session?.duty.kind === 'overdue' && !spec.whileOverdue)
        return redirect(withReturn(TWO_FACTOR_PATH, request, spec.method));
      for (const value of Object.values(request.params)) refuseUnstorable(value);
      const parameters = { ...parseUrlEncoded(request.query), ...(await readBody(request)) };
      const field = (name: string): string => textOf(parameters[name]);
      const answered = await handle({ db: database.db, services, settings, request, session, field });
      if (changes) services.wake();
      const shown = await laidOut(services, request, session, answered);
      return { ...shown, ...(session && { actor: session.actor.username }) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return laidOut(services, request, session, failurePage(services, session, error));
    }
  }

  return { kind: 'page', method: spec.method, path: spec.path, handle: answer };
}

/** The page number of a list; 1 by default. */
export const pageNumber = (text: string): number => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1);

const textOf = (value: RawObject[string] | undefined): string => (typeof value === 'string' ? value : '');

/** 303: the browser continues with a GET. */
export const redirect = (location: string, headers: Record<string, string> = {}): HttpResponse => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store', ...headers },
  body: '',
});

/** The path with a return to this page; a form's response cannot be returned to. */
function withReturn(path: string, request: HttpRequest, method: Method): string {
  if (method !== 'GET') return path;
  const here = request.query === '' ? request.path : `${request.path}?${request.query}`;
  return `${path}?return_to=${encodeURIComponent(here)}`;
}

const forged = (): Failure =>
  new Failure(
    'forbidden',
    'This form is out of date, or was sent from another site. Go back, reload the page and try again.',
  );

function hasToken(services: Needs<'authenticator'>, context: PageContext, session: Session): boolean {
  const header = context.request.headers['x-csrf-token'];
  const given = typeof header === 'string' ? header : context.field('authenticity_token');
  return sameSecret(given, services.authenticator.csrfToken(session.token));
}

/**
 * Whether the browser states that the request is of this site. Forms without a session, such as sign-in, rely
 * on it alone. A client without these headers is no browser, and has no cookies of another user.
 */
export function isSameOrigin(request: Pick<HttpRequest, 'headers' | 'origin'>, baseUrl: string): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = request.headers.origin?.toString();
  if (origin === undefined) return true;
  const known = [request.origin, URL.parse(baseUrl)?.origin];
  return known.includes(origin) || URL.parse(origin)?.host === request.headers.host;
}

/** The hidden field with the session's CSRF token. */
export const tokenField = (services: Needs<'authenticator'>, session: Session): Html =>
  html`<input type="hidden" name="authenticity_token" value="${services.authenticator.csrfToken(session.token)}">`;

/** A response whose document the route lays out: it knows the request, and what is shown around its page. */
type Shown = HttpResponse & { content?: PageContent };

/** A page in the site's layout, with the signed-in user at its top. */
export function showPage(
  services: Needs<'authenticator'>,
  session: Session | undefined,
  { title, body, status = 200, headers = {} }: ShownContent,
): HttpResponse {
  const account = session
    ? html`<a href="/-/profile/password">${session.actor.name}</a>
<form method="post" action="/users/sign_out">${tokenField(services, session)}<button class="plain">Sign out</button></form>`
    : html`<a href="${SIGN_IN_PATH}">Sign in</a>`;
  const csrfToken = session && services.authenticator.csrfToken(session.token);
  const shown: Shown = { ...htmlResponse(status, '', headers), content: { title, body, account, csrfToken } };
  return shown;
}

type ShownContent = { title: string; body: Html; status?: number; headers?: Record<string, string> };

/** The response with its document, if it is a page. */
async function laidOut(
  services: Needs<'database' | 'instance'>,
  request: HttpRequest,
  session: Session | undefined,
  { content, ...response }: Shown,
): Promise<HttpResponse> {
  if (!content) return response;
  const { broadcasts, appearance, appearanceVersion } = await services.instance.read();
  const waiting = undismissed(
    broadcastsAt(broadcasts, request.path, now()),
    request.headers.cookie?.toString(),
  );
  const query = request.query === '' ? '' : `?${request.query}`;
  const body = layOut(content, {
    appearance,
    version: appearanceVersion,
    broadcasts: withOneNotification(await forReader(services, request, session, waiting)),
    here: request.method === 'GET' ? `${request.path}${query}` : '/',
  });
  return { ...response, body };
}

/** Without those for members of other levels than the reader's; asks for it only where a message wants a level. */
async function forReader(
  { database }: Needs<'database'>,
  { path }: HttpRequest,
  session: Session | undefined,
  broadcasts: readonly Broadcast[],
): Promise<readonly Broadcast[]> {
  if (broadcasts.every((each) => isFor(each, 0))) return broadcasts;
  const subject = session && subjectPath(path);
  const level = subject === undefined ? 0 : await levelAt(database.points, session?.actor, subject);
  return broadcasts.filter((each) => isFor(each, level));
}

function failurePage(
  services: Needs<'authenticator'>,
  session: Session | undefined,
  failure: Failure,
): HttpResponse {
  const text =
    typeof failure.publicMessage === 'string' ? failure.publicMessage : 'The request is not valid.';
  const body = html`<div class="card"><h1>That did not work</h1><p class="message" role="alert">${text}</p></div>`;
  const { headers } = failure.details;
  const shown = showPage(services, session, {
    title: 'Error',
    body,
    status: failure.status,
    ...(headers && { headers }),
  });
  return { ...shown, failure: failure.kind };
}
