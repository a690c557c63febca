/** Writes the timeline of an incident. */
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';

/** Actions of the program: on the alert, or the incident. Entries by users have none. */
export type TimelineAction =
  | 'alert'
  | 'created'
  | 'status'
  | 'severity'
  | 'assignees'
  | 'closed'
  | 'reopened';

export type TimelineEntry = {
  action: TimelineAction;
  /** Markdown. */
  note: string;
  /** Defaults to now. */
  occurredAt?: Date;
};

/** Writes the program's entries into an incident's timeline, in the caller's transaction. */
export async function writeTimeline(
  tx: Db,
  incident: { id: number; project_id: number },
  author: { id: number },
  entries: readonly TimelineEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const time = now();
  const rows = entries.map(({ action, note, occurredAt }) => ({
    project_id: incident.project_id,
    issue_id: incident.id,
    author_id: author.id,
    action,
    note,
    occurred_at: occurredAt ?? time,
    created_at: time,
    updated_at: time,
  }));
  await ahead(tx).insertInto('incident_timeline_events').values(rows).execute();
}
