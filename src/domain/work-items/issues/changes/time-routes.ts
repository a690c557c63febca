/** The time estimate of an issue, and the time spent on it. */
import { onProject } from '../../../../kernel/access/access.ts';
import { timeEndpoints } from '../../time-tracking/time-routes.ts';
import { readIssue } from '../records/find-queries.ts';
import { updateIssue } from '../writing/actions.ts';
import { timedIssue } from '../writing/timed-issue.ts';

export const issueTimeEndpoints = timeEndpoints({
  table: 'issues',
  path: '/projects/:id/issues/:issue_iid',
  parameter: 'issue_iid',
  noun: 'an issue',
  read: onProject('read_issues'),
  write: onProject('create_issues'),
  ability: 'update_issues',
  find: (context, iid) => readIssue(context, context.subject, context.actor, iid),
  timed: ({ actor, subject }, issue) => timedIssue(actor, subject, issue),
  update: updateIssue,
});
