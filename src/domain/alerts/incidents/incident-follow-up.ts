/** Follow-up of changes of an incident: the entries of its timeline, and the end of its alerts. */

import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type IssueFollowUp, systemNote, type WorkChange } from '../../work-items/index.ts';
import { type TimelineEntry, writeTimeline } from '../timeline/timeline-writes.ts';
import { alertNotes, writeAlertNotes } from './links.ts';

/** Timeline entries for changes of an incident, in the words of their notes; most changes have none. */
const timelineOf = (changes: readonly WorkChange[]): TimelineEntry[] =>
  changes.flatMap((change): TimelineEntry[] => {
    const { body } = systemNote(change);
    if (change.what === 'state') return [{ action: change.to, note: `${body} the incident` }];
    if (change.what === 'severity' || change.what === 'assignees')
      return [{ action: change.what, note: body }];
    return [];
  });

/** Resolves the alerts of an incident that was closed. */
async function resolveAlertsOf(
  tx: Db,
  author: { id: number },
  incident: { id: number; iid: number },
): Promise<void> {
  const time = now();
  const resolved = await tx
    .updateTable('alerts')
    .set({ status: 'resolved', ended_at: time, updated_at: time })
    .where('issue_id', '=', incident.id)
    .where('status', '<>', 'resolved')
    .returning(['id', 'project_id'])
    .execute();
  const note = alertNotes.status('resolved', ` by closing incident #${incident.iid}`);
  await writeAlertNotes(
    tx,
    author,
    resolved.map((alert) => ({ alert, note })),
  );
}

export const incidentFollowUp: IssueFollowUp = {
  async changed(tx, author, issue, changes) {
    if (issue.issue_type === 'incident') await writeTimeline(tx, issue, author, timelineOf(changes));
  },
  closed: resolveAlertsOf,
};
