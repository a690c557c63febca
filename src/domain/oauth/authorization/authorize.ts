/** /oauth/authorize: the user, their consent, and the response to the client (spec: OAuth 2.0 provider, 2 and 3). */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { card, problemList } from '../../../kernel/api/forms.ts';
import {
  type Page,
  type PageContext,
  page,
  redirect,
  SIGN_IN_PATH,
  sessionPage,
  showPage,
  tokenField,
} from '../../../kernel/api/page.ts';
import { UNCONFIRMED } from '../../../kernel/identity/passwords/login-rules.ts';
import type { Session } from '../../../kernel/identity/sessions.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, pagePolicy } from '../../../platform/http/pages/html.ts';
import { insertGrant, newSecret } from '../grants/actions.ts';
import { OAuthError } from '../protocol/endpoint.ts';
import { selectClient } from '../protocol/queries.ts';
import { codeNotice, consentForm } from './consent-views.ts';
import { isApprovedBefore, isConfirmed, isOpenCode, lockApproval } from './queries.ts';
import {
  type AuthorizationRequest,
  type Judged,
  judgeRequest,
  judgeViewer,
  needsConsent,
  OUT_OF_BAND,
  queryAfterSignIn,
  type Refused,
  type ReplyTo,
  readQuery,
  replyUrl,
} from './rules.ts';

const PATH = '/oauth/authorize';
const NATIVE_PATH = `${PATH}/native`;

/** The client's site learns nothing of this address, which may have a code. */
const unreferred = { 'referrer-policy': 'no-referrer' };

/**
 * No other site may show these pages in a frame. With `no-referrer` browsers send forms with `Origin: null`,
 * which over plain HTTP is the only sign of this site's own forms. Browsers apply `form-action` to the whole
 * chain of redirects behind a form: clients often lead on to a second host of theirs, so the scheme is named,
 * not the host.
 */
const pageHeaders = (redirectUri?: string): Record<string, string> => {
  const scheme =
    redirectUri === undefined || redirectUri === OUT_OF_BAND ? '' : new URL(redirectUri).protocol;
  return {
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'content-security-policy': pagePolicy({ formsTo: scheme, frames: "'none'" }),
  };
};

type Viewed = Pick<PageContext, 'services' | 'session'>;

const show = ({ services, session }: Viewed, title: string, body: Html, status = 200): HttpResponse =>
  showPage(services, session, { title, body, status, headers: pageHeaders() });

const showProblem = (context: Viewed, text: string, status: number): HttpResponse =>
  show(context, 'Error', card('This application cannot be authorized', problemList([text])), status);

/** Sends the response to the client through the browser. */
const reply = (
  services: Needs<'config' | 'baseUrl'>,
  replyTo: ReplyTo,
  response: Record<string, string>,
): HttpResponse =>
  redirect(
    replyUrl(replyTo, services.config.oauthResponseIss ? services.baseUrl() : undefined, response),
    unreferred,
  );

/** Sends the error to the client, where it is proved and has an address; to the user otherwise. */
function refuse(context: Viewed, { refused, replyTo }: Refused): HttpResponse {
  if (!replyTo || replyTo.redirectUri === OUT_OF_BAND) return showProblem(context, refused.message, 400);
  const { code, message } = refused;
  return reply(context.services, replyTo, { error: code, error_description: message });
}

async function judge(services: Needs<'database'>, query: string): Promise<Judged> {
  const parameters = readQuery(query);
  const uid = parameters.values.get('client_id');
  const client = uid === undefined ? undefined : await selectClient(services.database.points, uid);
  return judgeRequest(parameters, client);
}

function leadToSignIn(session: Session | undefined, query: string): HttpResponse {
  const back = encodeURIComponent(`${PATH}?${queryAfterSignIn(query)}`);
  return redirect(`${SIGN_IN_PATH}?${session ? 'reauthenticate=1&' : ''}return_to=${back}`);
}

/** Responds to the user for whom the request is valid; redirects others to sign in, and refuses the rest. */
async function withViewer(
  context: PageContext,
  query: string,
  response: (requested: AuthorizationRequest, session: Session) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { db, services, settings, session } = context;
  const judged = await judge(services, query);
  if (!('good' in judged)) return refuse(context, judged);
  const { good: requested } = judged;
  const viewer = session && { admin: session.actor.admin, authenticatedAt: session.authenticatedAt };
  const step = judgeViewer(requested, viewer, settings, now());
  if (typeof step === 'object') return refuse(context, { ...step, replyTo: requested });
  if (step === 'sign_in' || !session) return leadToSignIn(session, query);
  if (!(await isConfirmed(db, session.actor.id))) return showProblem(context, UNCONFIRMED, 403);
  return response(requested, session);
}

/** Grants the request and redirects with the code. */
async function approve(
  context: PageContext,
  query: string,
  requested: AuthorizationRequest,
  session: Session,
): Promise<HttpResponse> {
  const { db, services } = context;
  const code = newSecret();
  const granted = await inTransaction(db, (tx) => grant(tx, requested, session, code));
  if (!granted) return leadToSignIn(undefined, query);
  if (requested.redirectUri === OUT_OF_BAND) return redirect(`${NATIVE_PATH}?code=${code}`, unreferred);
  return reply(services, requested, { code });
}

/** Writes the grant; false when the session or the application has ended meanwhile. */
async function grant(
  tx: Db,
  requested: AuthorizationRequest,
  session: Session,
  code: string,
): Promise<boolean> {
  const { actor, authenticatedAt } = session;
  const { client, scopes } = requested;
  if (!(await lockApproval(tx, session.token, client.id))) return false;
  await insertGrant(tx, {
    kind: 'authorization_code',
    application_id: client.id,
    user_id: actor.id,
    scopes,
    authenticated_at: authenticatedAt,
    code: {
      value: code,
      redirect_uri: requested.redirectUri,
      code_challenge: requested.codeChallenge,
      nonce: requested.nonce,
    },
  });
  await announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'User', id: actor.id, path: actor.username },
      event: 'user_authorized_oauth_application',
      details: {
        target_id: client.id,
        target_type: 'OauthApplication',
        target_details: client.name,
        scopes: scopes.join(' '),
      },
    },
  });
  return true;
}

const shownScopes = ({ scopes }: AuthorizationRequest): string => scopes.join(' ');

/** Asks for consent; the scopes that are shown come back with the form. */
function ask(
  { services }: PageContext,
  query: string,
  requested: AuthorizationRequest,
  session: Session,
): HttpResponse {
  const { client, scopes, redirectUri } = requested;
  const body = consentForm({
    action: PATH,
    token: tokenField(services, session),
    request: query,
    shown: shownScopes(requested),
    client,
    redirectUri,
    scopes,
    user: session.actor,
  });
  const headers = pageHeaders(redirectUri);
  return showPage(services, session, { title: 'Authorize an application', body, headers });
}

/** Shows the consent page, or grants at once where no consent is needed. */
async function open(context: PageContext): Promise<HttpResponse> {
  const { db, request } = context;
  const { query } = request;
  return withViewer(context, query, async (requested, session) => {
    const { client, scopes, prompt } = requested;
    const approved = !needsConsent(
      requested,
      await isApprovedBefore(db, session.actor.id, client.id, scopes),
    );
    // HEAD grants nothing.
    if (approved && request.method !== 'HEAD') return approve(context, query, requested, session);
    if (prompt.has('none'))
      return refuse(context, { refused: new OAuthError('consent_required'), replyTo: requested });
    return ask(context, query, requested, session);
  });
}

/** Takes the decision; the request that the form carries is judged anew. */
async function decide(context: PageContext): Promise<HttpResponse> {
  const { field } = context;
  const query = field('request');
  return withViewer(context, query, async (requested, session) => {
    const decision = field('decision');
    if (decision === 'approve') {
      // A request without scopes asks for those of the application, which may have changed while the page was read.
      const seen = field('shown') === shownScopes(requested);
      return seen ? approve(context, query, requested, session) : ask(context, query, requested, session);
    }
    if (decision === 'deny')
      return refuse(context, { refused: new OAuthError('access_denied'), replyTo: requested });
    return showProblem(context, 'The form does not say whether you approve.', 400);
  });
}

/**
 * Shows a code to its own user: a link with another user's code would sign the reader's program in as that
 * user.
 */
async function showCode(context: PageContext<Session>): Promise<HttpResponse> {
  const { db, session, field } = context;
  const code = field('code');
  if (!(await isOpenCode(db, session.actor.id, code)))
    return showProblem(context, 'This code is not valid, was used, or has expired.', 404);
  return show(context, 'Authorization code', codeNotice(code));
}

/** The pages of the authorization code flow. */
export const authorizePages: Page[] = [
  page({ method: 'GET', path: PATH, writes: true, handle: open }),
  sessionPage({ method: 'POST', path: PATH, handle: decide }),
  sessionPage({ method: 'GET', path: NATIVE_PATH, handle: showCode }),
];
