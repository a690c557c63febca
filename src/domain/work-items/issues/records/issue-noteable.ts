/** Issues as noteables. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Noteable, NoteableKind } from '../../../conversation/index.ts';
import { isReadByAnybody } from '../../../spam/index.ts';
import type { IssueRow } from './issue-rows.ts';
import { seesIssue } from './issue-visibility.ts';

/** Authors, assignees, commenters and mentioned users, internal notes aside, as rows of target and user_id. */
export const issueParticipants = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select id as target, author_id as user_id from issues where id = any(${ids})
    union select issue_id, user_id from issue_assignees where issue_id = any(${ids})
    union select issue_id, author_id from notes where issue_id = any(${ids}) and system_action is null and not internal
    union select t.issue_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.issue_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed') and n.internal is not true`;

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
    const assignees = confidential
      ? await db
          .selectFrom('issue_assignees')
          .select('user_id')
          .where('issue_id', '=', id ?? 0)
          .execute()
      : [];
    const assigneeIds = assignees.map(({ user_id }) => user_id);
    const issue = { confidential, author_id: authorId ?? 0 };
    return (person, { project }) =>
      project?.may('read_issues') === true && seesIssue(project, person, issue, assigneeIds);
  },
};

export const issueNoteable = (project: AuthorizedProject, issue: IssueRow): Noteable => ({
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
