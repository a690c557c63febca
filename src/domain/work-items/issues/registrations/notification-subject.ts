/** Issues as subjects of notification events. */

import { sql } from 'kysely';
import { setSubscription } from '../../../conversation/index.ts';
import {
  type LoadedSubject,
  type Loading,
  type NotificationSubject,
  projectOf,
  selectPeopleChange,
} from '../../../notifications/index.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import { issueWebUrl } from '../records/issue-rows.ts';
import { issueParticipants } from '../records/noteable-queries.ts';
import { issueMail, type MailedIssue } from './notification-mails.ts';
import {
  type AssignedIssue,
  keepIssue,
  selectAssignees,
  selectInProject,
  selectProperties,
} from './queries.ts';

/** What mails say of the issue. Those of events that show no properties need none. */
async function describe({ services, context, job }: Loading, issue: AssignedIssue): Promise<MailedIssue> {
  const { name } = job.event;
  const isShown = name === 'new_issue' || name === 'issue_due';
  const properties = isShown
    ? await selectProperties(services.database.background, issue.id)
    : { assignees: [], labels: [], milestone: null };
  return {
    id: issue.id,
    iid: issue.iid,
    title: issue.title,
    url: issueWebUrl(services.baseUrl(), context.fullPath, issue.iid),
    state: issue.state === 'closed' ? 'closed' : 'opened',
    confidential: issue.confidential,
    ...properties,
    dueDate: issue.due_date,
  };
}

/** A reminder is still right while the issue is open and due on the announced day. */
const isUnchanged = ({ job: { event, payload } }: Loading, issue: AssignedIssue): boolean =>
  event.name !== 'issue_due' || (issue.state === 'opened' && issue.due_date === payload.due_date);

async function load(loading: Loading): Promise<LoadedSubject | undefined> {
  const event = loading.job.event.name;
  // That of selectInProject(), whose other times are not read.
  const row = loading.row as AssignedIssue | null;
  const issue = row && { ...row, created_at: new Date(row.created_at) };
  if (!issue || !isUnchanged(loading, issue)) return undefined;
  const isNew = event === 'new_issue';
  return {
    authorId: issue.author_id,
    assigneeIds: issue.assignee_ids,
    reviewerIds: [],
    said: isNew ? issue.description : null,
    targetFor: (visitor) => issueNoteable(projectOf(visitor), issue),
    ...(isNew && { at: issue.created_at }),
    async contents() {
      const db = loading.services.database.background;
      const { assigned, unassigned } = loading.job.event.involved;
      const described = await describe(loading, issue);
      const change =
        event === 'reassign_issue'
          ? await selectPeopleChange(db, selectAssignees(issue.id), { added: assigned, removed: unassigned })
          : undefined;
      return {
        ...issueMail(event, described, change),
        description: isNew || event === 'issue_due' ? issue.description : null,
      };
    },
  };
}

export const issueSubject: NotificationSubject = {
  kind: 'issue',
  select: ({ projectId = 0, subject }) => selectInProject(projectId, subject.id ?? 0),
  load,
  participants: ({ subject }) => issueParticipants(sql`${[subject.id ?? 0]}::bigint[]`),
  subscription: {
    column: 'issue_id',
    async end(tx, userId, id) {
      const issue = await keepIssue(tx, id);
      if (issue) await setSubscription(tx, userId, { column: 'issue_id', id }, false);
    },
    name: 'this issue',
    still: 'You still get one when somebody mentions you there or assigns it to you.',
  },
};
