/** External status checks of projects, and what they say of merge requests. */
import { onProject } from '../../../kernel/access/access.ts';
import {
  Accepted,
  accepted,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/failure.ts';
import { countedPage, windowOf } from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { presentMergeRequests } from '../records/merge-request-records.ts';
import { createCheck, deleteCheck, updateCheck } from './actions.ts';
import { type CheckReading, presentCheck, presentChecks } from './present.ts';
import { selectCheck, selectChecked, selectChecks, selectChecksFor } from './queries.ts';
import { retryCheck, writeResponse } from './response-actions.ts';
import { statusOf } from './rules.ts';
import {
  CheckRecord,
  CreateCheck,
  OneCheck,
  RespondInput,
  ResponseRecord,
  RetryInput,
  StatusRecord,
  UpdateCheck,
} from './schema.ts';
import { sendingJob } from './send-requests.ts';

const path = '/projects/:id/external_status_checks';
const ofMergeRequest = '/projects/:id/merge_requests/:merge_request_iid';
const reading = onProject('read_status_checks');
const managing = onProject('manage_status_checks');
const responding = onProject('update_merge_requests');

/** The record of a check as it is now. */
const showCheck = async (context: CheckReading, id: number): Promise<CheckRecord> =>
  presentCheck(context, found(await selectCheck(context.db, context.subject, id)));

const managementEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'External status checks of a project.',
    tier: 'ultimate',
    access: reading,
    page: 'offset',
    item: CheckRecord,
    handle: async (context) => {
      const checks = await selectChecks(context.db, context.subject, context.page);
      return { ...checks, items: await presentChecks(context, checks.items) };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes an external status check of a project.',
    tier: 'ultimate',
    access: managing,
    input: CreateCheck,
    reply: CheckRecord,
    handle: async (context) => showCheck(context, await createCheck(context, context.input)),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:check_id`,
    summary: 'Changes an external status check; a list that is sent replaces the one before.',
    tier: 'ultimate',
    access: managing,
    input: UpdateCheck,
    reply: CheckRecord,
    handle: async (context) => {
      const { check_id, ...changes } = context.input;
      await updateCheck(context, check_id, changes);
      return showCheck(context, check_id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:check_id`,
    summary: 'Deletes an external status check with its responses.',
    tier: 'ultimate',
    access: managing,
    input: OneCheck,
    reply: noContent,
    handle: async (context) => {
      await deleteCheck(context, context.input.check_id, context.unmodified);
      return null;
    },
  }),
];

export const statusCheckEndpoints: Endpoint[] = [
  ...managementEndpoints,
  listing({
    method: 'GET',
    path: `${ofMergeRequest}/status_checks`,
    summary: 'External status checks that are for a merge request, and their status for its newest commit.',
    tier: 'ultimate',
    access: reading,
    page: 'offset',
    input: OneMergeRequest,
    item: StatusRecord,
    handle: async ({ db, subject, input, page }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const checks = await selectChecksFor(db, row);
      const { offset, limit } = windowOf(page);
      const shown = checks.slice(offset, offset + limit).map(({ id, name, external_url, response }) => ({
        id,
        name,
        external_url,
        status: statusOf(response, row.head_sha, now()),
      }));
      return countedPage(page, shown, checks.length);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${ofMergeRequest}/status_check_responses`,
    summary: 'Sets the status of an external status check for the newest commit of a merge request.',
    tier: 'ultimate',
    access: responding,
    also: [409],
    input: RespondInput,
    reply: ResponseRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { external_status_check_id: checkId, sha, status } = input;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const check = found(await selectCheck(db, subject, checkId));
      const id = await writeResponse(db, actor, subject, row, { checkId, sha, status });
      const [record] = await presentMergeRequests(context, [row]);
      if (!record) throw notFound();
      return { id, merge_request: record, external_status_check: await presentCheck(context, check) };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${ofMergeRequest}/status_checks/:external_status_check_id/retry`,
    summary: 'Asks a failed external status check anew; 422 for another one.',
    tier: 'ultimate',
    access: responding,
    also: [422],
    input: RetryInput,
    status: 202,
    reply: Accepted,
    handle: async ({ db, actor, subject, input }) => {
      const { merge_request_iid: iid, external_status_check_id: id } = input;
      const row = found(await selectChecked(db, subject, iid, id));
      if (row.state !== 'opened' || row.head_sha === null) throw notFound();
      const sending = {
        merge_request_id: row.id,
        user_id: actor.id,
        action: 'update',
        check_id: id,
      } as const;
      await retryCheck(db, row, id, await sendingJob(db, row, sending));
      return accepted();
    },
  }),
];
