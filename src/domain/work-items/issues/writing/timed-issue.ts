/** Issues as what time is spent on. */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Timed } from '../../time-tracking/time-actions.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { issueAnnouncement } from './work-events.ts';

export const timedIssue = (actor: Actor, project: AuthorizedProject, issue: IssueRow): Timed => ({
  table: 'issues',
  id: issue.id,
  noteable: issueNoteable(project, issue),
  announcement: (details) => issueAnnouncement(actor, project, issue, 'issue_updated', details),
});
