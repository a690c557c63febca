/** Issues as subjects of notification events. */

import { issueNoteable } from '../../core/work/issue-noteable.ts';
import { type IssueRow, issueWebUrl } from '../../core/work/issue-rows.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Happening, PeopleChange } from './mails/inputs.ts';
import { projectOf, type Visitor } from './notification-context.ts';
import {
  descriptionFor,
  type Loading,
  labelTitles,
  noteSubject,
  type Subject,
  type Talked,
} from './subjects.ts';

type IssueTarget = Extract<Happening, { event: 'reassign_issue' }>['target'];

const assigneesOf = (db: Db, id: number) =>
  db
    .selectFrom('issue_assignees')
    .innerJoin('users', 'users.id', 'issue_assignees.user_id')
    .select(['users.id', 'users.name'])
    .where('issue_id', '=', id)
    .orderBy('users.id')
    .execute();

async function describe({ services, context }: Loading, issue: IssueRow): Promise<IssueTarget> {
  const db = services.database.background;
  const [assignees, labels, milestone] = await Promise.all([
    assigneesOf(db, issue.id),
    labelTitles(db, 'issue_id', issue.id),
    issue.milestone_id === null
      ? undefined
      : db.selectFrom('milestones').select('title').where('id', '=', issue.milestone_id).executeTakeFirst(),
  ]);
  return {
    kind: 'issue',
    id: issue.id,
    iid: issue.iid,
    title: issue.title,
    url: issueWebUrl(services.baseUrl(), context.fullPath, issue.iid),
    state: issue.state === 'closed' ? 'closed' : 'opened',
    confidential: issue.confidential,
    assignees: assignees.map(({ name }) => name),
    labels,
    milestone: milestone?.title ?? null,
    dueDate: issue.due_date,
  };
}

/** The assignees before and after the event's change. */
async function peopleChange(db: Db, { job }: Loading, issue: IssueRow): Promise<PeopleChange> {
  const { assigned, unassigned } = job.event.involved;
  const current = await assigneesOf(db, issue.id);
  const gone = unassigned.length === 0 ? [] : await namesOf(db, unassigned);
  const after = current.map(({ name }) => name);
  const before = current.filter(({ id }) => !assigned.includes(id)).map(({ name }) => name);
  return { from: [...before, ...gone.map(({ name }) => name)], to: after };
}

const namesOf = (db: Db, ids: readonly number[]): Promise<{ name: string }[]> =>
  db
    .selectFrom('users')
    .select('name')
    .where('id', 'in', [...ids])
    .orderBy('id')
    .execute();

/** A reminder is still right while the issue is open and due on the announced day. */
const isUnchanged = ({ job: { event, payload: told } }: Loading, issue: IssueRow): boolean =>
  event.name !== 'issue_due' || (issue.state === 'opened' && issue.due_date === told.due_date);

/** Loads the issue, or the note on it. */
export async function loadIssue(loading: Loading): Promise<Subject | undefined> {
  const { services, context, job } = loading;
  const { name: event, subject } = job.event;
  const db = services.database.background;
  const issue = await db
    .selectFrom('issues')
    .selectAll()
    .where('id', '=', subject.id ?? 0)
    .where('project_id', '=', context.id)
    .executeTakeFirst();
  if (!issue || !isUnchanged(loading, issue)) return undefined;
  const assignees = await db
    .selectFrom('issue_assignees')
    .select('user_id')
    .where('issue_id', '=', issue.id)
    .execute();
  const thing: Talked<IssueTarget> = {
    authorId: issue.author_id,
    assigneeIds: assignees.map(({ user_id }) => user_id),
    targetFor: (visitor) => issueNoteable(projectOf(visitor), issue),
    describe: () => describe(loading, issue),
  };
  if (event === 'new_note') return noteSubject(loading, thing);
  return {
    ...thing,
    reviewerIds: [],
    said: event === 'new_issue' ? issue.description : null,
    internal: false,
    at: event === 'new_issue' ? issue.created_at : undefined,
    tell: (visitor) => happeningFor(loading, issue, visitor),
  };
}

async function happeningFor(loading: Loading, issue: IssueRow, visitor: Visitor): Promise<Happening> {
  const { services, job } = loading;
  const { name: event } = job.event;
  const target = await describe(loading, issue);
  switch (event) {
    case 'new_issue':
    case 'issue_due':
      return { event, target, description: await descriptionFor(services, visitor, issue.description) };
    case 'close_issue':
    case 'reopen_issue':
      return { event, target };
    case 'reassign_issue':
      return { event, target, change: await peopleChange(services.database.background, loading, issue) };
    default:
      throw new Error(`no event of an issue: ${event}`);
  }
}
