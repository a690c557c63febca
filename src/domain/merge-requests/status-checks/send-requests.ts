/**
 * Requests to external status checks. What happens to an open merge request makes them wait for the newest commit, and one job
 * for all of them: of jobs that wait for one merge request there is one, and one job of the instance runs at a time, so that
 * slow services hold nothing else up for long.
 */
import { outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import type { Needs } from '../../../kernel/services.ts';
import { version } from '../../../package.ts';
import type { Db } from '../../../platform/db/database.ts';
import { addJobs, type NewJob, type Task, type Tasks } from '../../../platform/jobs/jobs.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { hmacSha256, unseal } from '../../../platform/secret.ts';
import { type PayloadAction, payloadOf } from '../payloads/payload.ts';
import { type PayloadServices, readPayload } from '../payloads/read-payload.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type CheckOfMergeRequest, selectChecksFor, selectTurn } from './queries.ts';
import { awaitResponses } from './response-actions.ts';

const SEND_STATUS_CHECKS = 'merge_requests.send_status_checks';

export type StatusCheckServices = PayloadServices & Needs<'outbound' | 'secretKey' | 'log'>;

const REQUEST_TIMEOUT_MS = 5_000;
/** Responses are not read: services respond by the API. */
const MAX_RESPONSE_BYTES = 10_000;

type Sending = {
  merge_request_id: number;
  user_id: number;
  action: PayloadAction;
  before?: string;
  /** That one alone. */
  check_id?: number;
};

/**
 * The job that sends the requests. A service may be slow, and no two jobs send at once: the next one is of whom fewest wait, so
 * that nobody stands behind all changes of another's merge requests.
 */
export async function sendingJob(
  db: Db,
  { project_id }: Pick<MergeRequestRow, 'project_id'>,
  sending: Sending,
): Promise<NewJob> {
  const { share, turn } = await selectTurn(db, project_id);
  return {
    task: SEND_STATUS_CHECKS,
    payload: sending,
    queue: 'status checks',
    priority: turn,
    key: `${share}${sending.merge_request_id} ${sending.check_id ?? 'all'}`,
  };
}

/** What the facts of merge requests say happened. */
const factActions = {
  merge_request_created: 'open',
  merge_request_reopened: 'reopen',
  merge_request_updated: 'update',
  merge_request_pushed: 'update',
} as const satisfies Record<string, PayloadAction>;
const awaiting = (action: PayloadAction): string => `merge_requests.await_status_checks_${action}`;

/** Services that are slow do not hold up what else follows the facts of a project. */
export const statusCheckListeners = ({ config }: Needs<'config'>): Listener[] =>
  Object.entries(factActions).map(([fact, action]) => ({
    fact,
    task: awaiting(action),
    when: () => config.tier === 'ultimate',
    anyOrder: true,
  }));

/** After a fact of a merge request that `action` tells of. */
const awaitStatusChecks =
  ({ database }: Needs<'database'>, action: PayloadAction): Task =>
  async (payload) => {
    const { merge_request_id, user_id, before } = payload as Omit<Sending, 'action'>;
    const row = await selectMergeRequest(database.background, merge_request_id);
    if (row?.state !== 'opened' || row.head_sha === null) return;
    const checks = await selectChecksFor(database.background, row);
    if (checks.length === 0) return;
    const ids = checks.map(({ id }) => id);
    await awaitResponses(database.background, row, ids);
    const sending = { merge_request_id, user_id, action, ...(before !== undefined && { before }) };
    await addJobs(database.background, [await sendingJob(database.background, row, sending)]);
  };

/** One request; what becomes of it is in the log alone, since a service that has not heard of it does not respond. */
async function send(
  services: StatusCheckServices,
  check: CheckOfMergeRequest,
  payload: object,
): Promise<void> {
  const { id, name, external_url, shared_secret_sealed } = check;
  const body = JSON.stringify({ ...payload, external_approval_rule: { id, name, external_url } });
  const secret = shared_secret_sealed && unseal(services.secretKey, shared_secret_sealed);
  const settings = await services.settings.read();
  try {
    await outboundFetch(services, settings)(external_url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `Ashlar/${version.own}`,
        'x-gitlab-event': 'Merge Request Hook',
        'x-gitlab-instance': services.baseUrl(),
        ...(secret && { 'x-gitlab-signature': hmacSha256(secret, body) }),
      },
      body,
      timeoutMilliseconds: REQUEST_TIMEOUT_MS,
      maximumBytes: MAX_RESPONSE_BYTES,
    });
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    services.log.info('request to a status check failed', { check: id, reason: error.message });
  }
}

/** Sends what sendingJob() says. */
const sendStatusChecks =
  (services: StatusCheckServices): Task =>
  async (payload) => {
    const sending = payload as Sending;
    const row = await selectMergeRequest(services.database.background, sending.merge_request_id);
    if (row?.state !== 'opened') return;
    const all = await selectChecksFor(services.database.background, row);
    const checks = sending.check_id === undefined ? all : all.filter(({ id }) => id === sending.check_id);
    const read = checks.length > 0 ? await readPayload(services, row, sending) : undefined;
    const content = read && payloadOf(read.around, read.shown);
    if (content) await Promise.all(checks.map((check) => send(services, check, content)));
  };

export const statusCheckTasks = (services: StatusCheckServices): Tasks => ({
  [SEND_STATUS_CHECKS]: sendStatusChecks(services),
  ...Object.fromEntries(
    [...new Set(Object.values(factActions))].map((action) => [
      awaiting(action),
      awaitStatusChecks(services, action),
    ]),
  ),
});
