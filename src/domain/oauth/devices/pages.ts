/** The pages on which a user types the code of a device, reads its request, and approves or denies (RFC 8628, 3.3). */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Page, type PageContext, sessionPage, showPage, tokenField } from '../../../kernel/api/page.ts';
import { UNCONFIRMED } from '../../../kernel/identity/passwords/login-rules.ts';
import type { Session } from '../../../kernel/identity/sessions.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { pagePolicy } from '../../../platform/http/pages/html.ts';
import { addressKey } from '../../../platform/http/rate-limit.ts';
import { isConfirmed } from '../authorization/queries.ts';
import { scopeRefusal } from '../protocol/scope-rules.ts';
import { type AskingDevice, decideDevice, findAskingDevice } from './queries.ts';
import { parseUserCode, showUserCode } from './user-code.ts';
import { codeForm, decidedNotice, decisionForm, rejectedNotice } from './views.ts';

export const DEVICE_PATH = '/oauth/device';
const DECISION_PATH = `${DEVICE_PATH}/decision`;

type Context = PageContext<Session>;

/**
 * No other site may show these pages in a frame, or learn of the codes in their addresses. With `no-referrer`
 * browsers send forms with `Origin: null`, which over plain HTTP is the only sign of this site's own forms.
 */
const headers = {
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'content-security-policy': pagePolicy({ frames: "'none'" }),
};

/**
 * The same for codes that expired, were decided about or never existed: it discloses nothing about other
 * users' devices.
 */
const UNKNOWN = 'This code is not valid. It may be mistyped, used already or older than five minutes.';
const TOO_MANY = 'Too many codes were tried. Wait five minutes, and then start again on your device.';

/**
 * Look-ups of codes in five minutes, of right ones and for decisions too: their cost must not tell a hit from
 * a miss. Many people share an address.
 */
const PERIOD_SECONDS = 300;
const LOOKUPS_OF_USER = 20;
const LOOKUPS_OF_ADDRESS = 100;

/** Counts a look-up; the seconds to wait when it is one too many. */
async function throttledFor({ services, session, request }: Context): Promise<number | undefined> {
  const counts = [
    { key: `oauth_user_code:user:${session.actor.id}`, limit: LOOKUPS_OF_USER },
    { key: `oauth_user_code:address:${addressKey(request.address)}`, limit: LOOKUPS_OF_ADDRESS },
  ];
  for (const { key, limit } of counts) {
    const taken = await services.limiter.take(key, { limit, periodSeconds: PERIOD_SECONDS });
    if (!taken.allowed) return taken.retryAfter;
  }
  return undefined;
}

function showForm(
  { services, session, field }: Context,
  refused?: { problem: string; status: number; retryAfter?: number },
): HttpResponse {
  const typed = field('user_code').slice(0, 40);
  const code = parseUserCode(typed);
  const form = {
    action: DEVICE_PATH,
    token: tokenField(services, session),
    code: code === undefined ? typed : showUserCode(code),
    problem: refused?.problem,
  };
  return showPage(services, session, {
    title: 'Connect a device',
    body: codeForm(form),
    status: refused?.status ?? 200,
    headers: {
      ...headers,
      ...(refused?.retryAfter !== undefined && { 'retry-after': String(refused.retryAfter) }),
    },
  });
}

const showUnknown = (context: Context): HttpResponse => showForm(context, { problem: UNKNOWN, status: 422 });

/** Responds for the device of the code, or says that there is none, or that too many codes were sent. */
async function withDevice(
  context: Context,
  response: (device: AskingDevice) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const retryAfter = await throttledFor(context);
  if (retryAfter !== undefined) return showForm(context, { problem: TOO_MANY, status: 429, retryAfter });
  const code = parseUserCode(context.field('user_code'));
  const device = code === undefined ? undefined : await findAskingDevice(context.db, code);
  if (!device) return showUnknown(context);
  const { actor } = context.session;
  const problem = (await isConfirmed(context.db, actor.id))
    ? scopeRefusal(device.scopes, { ...actor, trusted: device.trusted }, context.settings)
    : UNCONFIRMED;
  return problem === undefined ? response(device) : reject(context, device, problem);
}

/** Denies for a user who cannot give the device's scopes (spec: States and transitions, "was rejected"). */
async function reject(context: Context, device: AskingDevice, problem: string): Promise<HttpResponse> {
  const { db, services, session } = context;
  const denial = { state: 'denied', sessionToken: session.token } as const;
  if (!(await inTransaction(db, (tx) => decideDevice(tx, device.id, denial)))) return showUnknown(context);
  const body = rejectedNotice(device.application_name, problem);
  return showPage(services, session, { title: 'Connect a device', body, status: 403, headers });
}

async function showDecision({ services, session }: Context, device: AskingDevice): Promise<HttpResponse> {
  const { application_name: application, scopes } = device;
  const body = decisionForm({
    action: DECISION_PATH,
    token: tokenField(services, session),
    code: showUserCode(device.user_code),
    application,
    scopes,
    user: session.actor,
  });
  return showPage(services, session, { title: 'Connect a device', body, headers });
}

const announceApproval = (tx: Db, actor: Actor, device: AskingDevice): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'User', id: actor.id, path: actor.username },
      event: 'user_authorized_oauth_application',
      details: {
        target_id: device.application_id,
        target_type: 'OauthApplication',
        target_details: device.application_name,
        scopes: device.scopes.join(' '),
      },
    },
  });

async function decide(context: Context, device: AskingDevice): Promise<HttpResponse> {
  const { db, services, session, field } = context;
  const approved = field('decision') === 'approve';
  const state = approved ? 'authorized' : 'denied';
  const decision = { state, sessionToken: session.token } as const;
  const decided = await inTransaction(db, async (tx) => {
    if (!(await decideDevice(tx, device.id, decision))) return false;
    if (approved) await announceApproval(tx, session.actor, device);
    return true;
  });
  if (!decided) return showUnknown(context);
  const title = approved ? 'Device connected' : 'Request denied';
  return showPage(services, session, {
    title,
    body: decidedNotice(device.application_name, approved),
    headers,
  });
}

/** The form for the code, the page that shows the request, and the decision. Opening a link decides nothing. */
export const devicePages: Page[] = [
  sessionPage({ method: 'GET', path: DEVICE_PATH, handle: async (context) => showForm(context) }),
  sessionPage({
    method: 'POST',
    path: DEVICE_PATH,
    handle: (context) => withDevice(context, (device) => showDecision(context, device)),
  }),
  sessionPage({
    method: 'POST',
    path: DECISION_PATH,
    handle: (context) => withDevice(context, (device) => decide(context, device)),
  }),
];
