/** What is written into the timeline of an incident when something becomes of it. */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { WorkChange } from '../work/issue-changes.ts';
import { systemNote } from '../work/system-notes.ts';

/** What the program sees: an alert's state, and the incident's own. Entries of people have no action. */
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
  /** Now, where it is not given. */
  occurredAt?: Date;
};

/** The entries of changes of an incident, in the words of their notes; most changes have none. */
export const timelineOf = (changes: readonly WorkChange[]): TimelineEntry[] =>
  changes.flatMap((change): TimelineEntry[] => {
    const { body } = systemNote(change);
    if (change.what === 'state') return [{ action: change.to, note: `${body} the incident` }];
    if (change.what === 'severity' || change.what === 'assignees')
      return [{ action: change.what, note: body }];
    return [];
  });

/** Writes entries of the program into the timeline of an incident, in the caller's transaction. */
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
  await tx.insertInto('incident_timeline_events').values(rows).execute();
}
