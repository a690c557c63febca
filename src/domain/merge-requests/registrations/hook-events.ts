/** Merge requests, as hooks are told of them (facts-merge-requests: 10.6). */
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import {
  type FactChanges,
  type HookEvent,
  type HookNoteable,
  type HookSample,
  type HookServices,
  hookSource,
  stateIds,
} from '../../hooks/index.ts';
import { type ApprovalChange, approvalAction, resetBySystem } from '../approvals/approval-changes.ts';
import { attributesOf, type PayloadAction, payloadOf } from '../payloads/payload.ts';
import { readPayload } from '../payloads/read-payload.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { isDraft } from '../texts/draft.ts';
import { selectApprovalsSince } from './approval-queries.ts';
import { selectNewestMergeRequest } from './queries.ts';

type Fact = {
  merge_request_id: number;
  user_id: number;
  /** The head before a push. */
  before?: string;
  changes?: FactChanges;
  /** Whose approvals were taken away. */
  approver_ids?: number[];
  /** Whether a push took them. */
  by_push?: boolean;
};

type Happened = { action: PayloadAction; systemAction?: string | undefined };
type WhatHappened = (services: HookServices, row: MergeRequestRow, fact: Fact) => Promise<Happened>;

/** A title says whether it is a draft. */
function draftChange(title: FactChanges[string] | undefined): object {
  const [previous, current] = [title?.from, title?.to].map((text) => isDraft(String(text ?? '')));
  return previous === current ? {} : { draft: { previous, current } };
}

async function mergeRequestEvent(
  services: HookServices,
  fact: Fact,
  whatHappened: WhatHappened,
  changesBeside: (waitsForThreads: boolean) => object = () => ({}),
): Promise<HookEvent[]> {
  const { merge_request_id, user_id, before, changes } = fact;
  const row = await selectMergeRequest(services.database.background, merge_request_id);
  if (!row) return [];
  const happened = await whatHappened(services, row, fact);
  const read = await readPayload(services, row, {
    ...happened,
    user_id,
    before,
    ...(changes && { changes }),
  });
  if (!read) return [];
  const payload = payloadOf(read.around, read.shown);
  const waitsForThreads = projectSettings(
    read.shown.project,
  ).only_allow_merge_if_all_discussions_are_resolved;
  const told = { ...payload.changes, ...draftChange(changes?.title), ...changesBeside(waitsForThreads) };
  const body = { ...payload, changes: told };
  return [{ flag: 'merge_requests_events', body }];
}

const always =
  (action: PayloadAction): WhatHappened =>
  async () => ({ action });

/** Below premium no rule tells what is missing. */
const approvals =
  (otherwise: PayloadAction, changeOf: (fact: Fact) => ApprovalChange): WhatHappened =>
  async (services, row, fact) => {
    if (services.config.tier === 'free') return { action: otherwise };
    const change = changeOf(fact);
    const instance = await services.settings.read();
    const since = await selectApprovalsSince(services.database.background, instance, row, change);
    const systemAction = fact.by_push ? resetBySystem(since) : undefined;
    return { action: approvalAction(since, change), systemAction };
  };

const state = (previous: number, current: number) => () => ({ state_id: { previous, current } });

/** The facts that are told, with what happened by them, and what changed beside their `changes`. */
const sources: Record<string, [WhatHappened, changes?: (waitsForThreads: boolean) => object]> = {
  merge_request_created: [always('open')],
  merge_request_updated: [always('update')],
  merge_request_pushed: [always('update')],
  merge_request_threads_resolved: [
    always('update'),
    // Where nothing waits for threads, they blocked nothing.
    (waits) => (waits ? { blocking_discussions_resolved: { previous: false, current: true } } : {}),
  ],
  merge_request_closed: [always('close'), state(stateIds.opened, stateIds.closed)],
  merge_request_reopened: [always('reopen'), state(stateIds.closed, stateIds.opened)],
  merge_request_merged: [always('merge'), state(stateIds.opened, stateIds.merged)],
  merge_request_approved: [approvals('approved', ({ user_id }) => ({ given: user_id }))],
  merge_request_unapproved: [approvals('unapproved', ({ user_id }) => ({ taken: [user_id] }))],
  merge_request_approvals_reset: [
    approvals('unapproved', ({ approver_ids = [] }) => ({ taken: approver_ids })),
  ],
};

export const mergeRequestHooks = Object.entries(sources).map(([fact, [whatHappened, changes]]) =>
  hookSource<Fact>({
    fact,
    flags: ['merge_requests_events'],
    eventsOf: (services, told) => mergeRequestEvent(services, told, whatHappened, changes),
  }),
);

export const mergeRequestOfNotes: HookNoteable = {
  type: 'MergeRequest',
  field: 'merge_request',
  async partOf(services, { project, user }, id) {
    const row = await selectMergeRequest(services.database.background, Number(id));
    if (row?.project_id !== project.id) return undefined;
    const read = await readPayload(services, row, { user_id: user?.id ?? row.author_id, action: 'update' });
    if (!read) return undefined;
    const part = attributesOf(read.around, read.shown);
    return { part, url: part.url, isConfidential: false };
  },
};

export const mergeRequestSample: HookSample = {
  flag: 'merge_requests_events',
  async eventFor(services, { projectId, userId }) {
    const newest = await selectNewestMergeRequest(services.database.background, projectId);
    const told = newest && { merge_request_id: newest.id, user_id: userId };
    const [event] = told ? await mergeRequestEvent(services, told, always('update')) : [];
    return event ?? { missing: 'Ensure the project has merge requests.' };
  },
};
