/** Follow-up of changes of an incident: the entries of its timeline, and the end of its alerts. */

import { type IssueFollowUp, systemNote, type WorkChange } from '../../work-items/index.ts';
import { type TimelineEntry, writeTimeline } from '../timeline/entry-actions.ts';
import { resolveAlertsOf } from './actions.ts';

/** Timeline entries for changes of an incident, in the words of their notes; most changes have none. */
const timelineOf = (changes: readonly WorkChange[]): TimelineEntry[] =>
  changes.flatMap((change): TimelineEntry[] => {
    const { body } = systemNote(change);
    if (change.what === 'state') return [{ action: change.to, note: `${body} the incident` }];
    if (change.what === 'severity' || change.what === 'assignees')
      return [{ action: change.what, note: body }];
    return [];
  });

export const incidentFollowUp: IssueFollowUp = {
  async changed(tx, author, issue, changes) {
    if (issue.issue_type === 'incident') await writeTimeline(tx, issue, author, timelineOf(changes));
  },
  closed: resolveAlertsOf,
};
