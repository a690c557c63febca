/** Resource events: rows for changes of state, labels, milestone and weight of an issue or epic. */
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

export type ResourceEvent =
  | { kind: 'state'; action: 'closed' | 'reopened' }
  | { kind: 'label'; action: 'add' | 'remove'; labelId: number }
  | { kind: 'milestone'; action: 'add' | 'remove'; milestoneId: number }
  | { kind: 'weight'; weight: number | null };

export const resourceEventRows = (
  target: { issueId: number } | { epicId: number },
  userId: number,
  events: readonly ResourceEvent[],
) =>
  events.map((event) => ({
    kind: event.kind,
    issue_id: 'issueId' in target ? target.issueId : null,
    epic_id: 'epicId' in target ? target.epicId : null,
    user_id: userId,
    action: event.kind === 'weight' ? null : event.action,
    label_id: event.kind === 'label' ? event.labelId : null,
    milestone_id: event.kind === 'milestone' ? event.milestoneId : null,
    weight: event.kind === 'weight' ? event.weight : null,
    created_at: now(),
  }));

/** Writes the events by one statement. */
export async function writeResourceEvents(
  tx: Db,
  target: { issueId: number } | { epicId: number },
  userId: number,
  events: readonly ResourceEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await tx
    .insertInto('resource_events')
    .values(resourceEventRows(target, userId, events))
    .execute();
}
