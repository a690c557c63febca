/** Issues as noteables. */

import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Noteable, NoteableKind } from '../../../conversation/index.ts';
import { isReadByAnybody } from '../../../spam/index.ts';
import type { IssueRow } from './issue-rows.ts';
import { issueParticipants, selectAssigneeIds } from './noteable-queries.ts';
import { seesIssue } from './visibility-queries.ts';

/** Where users subscribe to issues. */
export const issueSubscriptions = { column: 'issue_id', participants: issueParticipants } as const;

export const issueKind: NoteableKind = {
  name: 'issue',
  type: 'Issue',
  column: 'issue_id',
  numberedIn: 'issues',
  countedIn: 'issues',
  awardColumn: 'issue_id',
  isResolvable: true,
  hasTodos: true,
  subscriptions: issueSubscriptions,
  isPublic: ({ project, confidential }) =>
    project !== undefined && !confidential && isReadByAnybody(project, 'read_issues'),
  async readers(db, { id, confidential, authorId }) {
    const assignees = confidential ? await selectAssigneeIds(db, id ?? 0) : [];
    const assigneeIds = assignees.map(({ user_id }) => user_id);
    const issue = { confidential, author_id: authorId ?? 0 };
    return (person, { project }) =>
      project?.may('read_issues') === true && seesIssue(project, person, issue, assigneeIds);
  },
};

export const issueNoteable = (
  project: AuthorizedProject,
  issue: Pick<IssueRow, 'id' | 'iid' | 'title' | 'confidential' | 'author_id' | 'discussion_locked'>,
): Noteable => ({
  ...newIssueNoteable(project, { confidential: issue.confidential, authorId: issue.author_id }),
  id: issue.id,
  iid: issue.iid,
  title: issue.title,
  locked: issue.discussion_locked === true,
});

/** An issue without a number yet, to decide who would see it. */
export const newIssueNoteable = (
  project: AuthorizedProject,
  issue: { confidential: boolean; authorId: number },
): Noteable => ({
  kind: issueKind,
  id: undefined,
  sha: undefined,
  iid: undefined,
  title: '',
  ...issue,
  locked: false,
  project,
  group: undefined,
});
