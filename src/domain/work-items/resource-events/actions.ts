/** Resource events: rows for changes of state, labels, milestone and weight of an issue, epic or merge request. */
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

/** What changed, by the column that refers to it. */
export type EventTarget = { issue_id: number } | { epic_id: number } | { merge_request_id: number };
export type EventColumn = 'issue_id' | 'epic_id' | 'merge_request_id';

/** What closes issues: a merge request that is merged, or a commit that is pushed. */
export type EventCause = { mergeRequestId: number } | { commit: string };

export type ResourceEvent =
  | { kind: 'state'; action: 'closed' | 'reopened' | 'merged'; cause?: EventCause | undefined }
  | { kind: 'label'; action: 'add' | 'remove'; labelId: number }
  | { kind: 'milestone'; action: 'add' | 'remove'; milestoneId: number }
  | { kind: 'weight'; weight: number | null };

function causeColumns(event: ResourceEvent) {
  const cause = event.kind === 'state' ? event.cause : undefined;
  return {
    source_merge_request_id: cause && 'mergeRequestId' in cause ? cause.mergeRequestId : null,
    source_commit: cause && 'commit' in cause ? cause.commit : null,
  };
}

const rowsOf = (target: EventTarget, userId: number, events: readonly ResourceEvent[]) =>
  events.map((event) => ({
    kind: event.kind,
    ...target,
    user_id: userId,
    action: event.kind === 'weight' ? null : event.action,
    label_id: event.kind === 'label' ? event.labelId : null,
    milestone_id: event.kind === 'milestone' ? event.milestoneId : null,
    weight: event.kind === 'weight' ? event.weight : null,
    ...causeColumns(event),
    created_at: now(),
  }));

/** A statement that inserts the events; undefined without any. */
export const insertResourceEvents = (
  tx: Db,
  target: EventTarget,
  userId: number,
  events: readonly ResourceEvent[],
) =>
  events.length === 0 ? undefined : tx.insertInto('resource_events').values(rowsOf(target, userId, events));
