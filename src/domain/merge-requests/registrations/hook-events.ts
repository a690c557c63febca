/** Merge requests, as hooks are told of them (facts-merge-requests: 10.6). */
import {
  type FactChanges,
  type HookEvent,
  type HookNoteable,
  type HookSample,
  type HookServices,
  hookSource,
  stateIds,
} from '../../hooks/index.ts';
import { attributesOf, type PayloadAction, payloadOf } from '../payloads/payload.ts';
import { readPayload } from '../payloads/read-payload.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import { selectNewestMergeRequest } from './queries.ts';

type Fact = {
  merge_request_id: number;
  user_id: number;
  /** The head before a push. */
  before?: string;
  changes?: FactChanges;
};

/** What a fact changed beside its `changes`. */
const stateChanges: Partial<Record<PayloadAction, object>> = {
  close: { state_id: { previous: stateIds.opened, current: stateIds.closed } },
  reopen: { state_id: { previous: stateIds.closed, current: stateIds.opened } },
  merge: { state_id: { previous: stateIds.opened, current: stateIds.merged } },
};

async function mergeRequestEvent(
  services: HookServices,
  { merge_request_id, user_id, before, changes }: Fact,
  action: PayloadAction,
): Promise<HookEvent[]> {
  const row = await selectMergeRequest(services.database.background, merge_request_id);
  const read =
    row && (await readPayload(services, row, { user_id, action, before, ...(changes && { changes }) }));
  if (!read) return [];
  const payload = payloadOf(read.around, read.shown);
  const body = { ...payload, changes: { ...payload.changes, ...stateChanges[action] } };
  return [{ flag: 'merge_requests_events', body }];
}

/** The facts that are told, with what happened by them. */
const actions = {
  merge_request_created: 'open',
  merge_request_updated: 'update',
  merge_request_pushed: 'update',
  merge_request_threads_resolved: 'update',
  merge_request_closed: 'close',
  merge_request_reopened: 'reopen',
  merge_request_merged: 'merge',
  merge_request_approved: 'approved',
  merge_request_unapproved: 'unapproved',
} as const satisfies Record<string, PayloadAction>;

export const mergeRequestHooks = Object.entries(actions).map(([fact, action]) =>
  hookSource<Fact>({
    fact,
    flags: ['merge_requests_events'],
    eventsOf: (services, told) => mergeRequestEvent(services, told, action),
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
    const [event] = told ? await mergeRequestEvent(services, told, 'update') : [];
    return event ?? { missing: 'Ensure the project has merge requests.' };
  },
};
