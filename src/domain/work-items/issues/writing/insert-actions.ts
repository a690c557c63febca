/**
 * Inserts issues with their number, relations and events by one statement. Run as its own transaction, it
 * locks the project's counter for no extra round trip, and a number is never lost. Issues that one process
 * creates at the same time are inserted as a batch.
 */
import { CompiledQuery } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import {
  type Announcement,
  announcementColumns,
  announcementRow,
  announcementStatements,
} from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { userBasicJson } from '../../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../../kernel/users/records.ts';
import { now } from '../../../../platform/clock.ts';
import { batchedWrite } from '../../../../platform/db/batched-write.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { recordset } from '../../../../platform/db/recordset.ts';
import { type MentionTodo, mayNameNoteables } from '../../../conversation/index.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { issueAnnouncement } from './work-events.ts';

/** The gap between the positions of issues, so that others can be put between them. */
export const POSITION_GAP = 65_536;

export type PreparedIssue = {
  /** The next number where it is null. */
  iid: number | null;
  authorId: number;
  title: string;
  description: string | null;
  issueType: string;
  severity: string;
  confidential: boolean;
  discussionLocked: boolean | null;
  milestoneId: number | null;
  startDate: string | null;
  dueDate: string | null;
  weight: number | null;
  healthStatus: string | null;
  timeEstimate: number;
  userAgent: string | null;
  address: string | null;
  createdAt: Date;
  assigneeIds: readonly number[];
  labelIds: readonly number[];
  epicId: number | null;
  todos: readonly MentionTodo[];
};

/** A prepared issue, its author and its project. */
export type IssueInsert = { actor: Actor; project: AuthorizedProject; issue: PreparedIssue };

/** The row, and its author for records. */
export type InsertedIssue = { issue: IssueRow; author: UserBasicRow };

/** The columns of `given` that are not columns of issues. */
const inputColumns = {
  ordinal: 'integer',
  actor_id: 'bigint',
  given_iid: 'integer',
  assignee_ids: 'bigint[]',
  label_ids: 'bigint[]',
  epic_id: 'bigint',
  todo_user_ids: 'bigint[]',
  todo_actions: 'text[]',
  ...announcementColumns,
} as const;

const issueColumns = {
  project_id: 'bigint',
  author_id: 'bigint',
  title: 'text',
  description: 'text',
  issue_type: 'text',
  severity: 'text',
  confidential: 'boolean',
  discussion_locked: 'boolean',
  milestone_id: 'bigint',
  start_date: 'date',
  due_date: 'date',
  weight: 'integer',
  health_status: 'text',
  time_estimate: 'integer',
  user_agent: 'text',
  ip_address: 'text',
  created_at: 'timestamptz',
} as const;

type GivenRow = Record<
  Exclude<keyof typeof inputColumns, keyof typeof announcementColumns> | keyof typeof issueColumns,
  unknown
>;

const announcementOf = ({ actor, project, issue }: IssueInsert): Announcement =>
  issueAnnouncement(actor, project, issue, 'issue_created', {
    may_name: mayNameNoteables(`${issue.title}\n${issue.description ?? ''}`),
  });

/** What is null or empty is left out: to the statement it is the same, and the server reads less. */
const filled = <T>(list: readonly T[]) => (list.length > 0 ? list : undefined);

function givenRow(insert: IssueInsert, ordinal: number, moment: Date): GivenRow {
  const { actor, project, issue } = insert;
  return {
    ...announcementRow(announcementOf(insert), moment),
    ordinal,
    actor_id: actor.id,
    given_iid: issue.iid ?? undefined,
    project_id: project.id,
    author_id: issue.authorId,
    title: issue.title,
    description: issue.description ?? undefined,
    issue_type: issue.issueType,
    severity: issue.severity,
    confidential: issue.confidential,
    discussion_locked: issue.discussionLocked ?? undefined,
    milestone_id: issue.milestoneId ?? undefined,
    start_date: issue.startDate ?? undefined,
    due_date: issue.dueDate ?? undefined,
    weight: issue.weight ?? undefined,
    health_status: issue.healthStatus ?? undefined,
    time_estimate: issue.timeEstimate,
    user_agent: issue.userAgent ?? undefined,
    ip_address: issue.address ?? undefined,
    created_at: issue.createdAt,
    assignee_ids: filled(issue.assigneeIds),
    label_ids: filled(issue.labelIds),
    epic_id: issue.epicId ?? undefined,
    todo_user_ids: filled(issue.todos.map(({ userId }) => userId)),
    todo_actions: filled(issue.todos.map(({ action }) => action)),
  };
}

/** Inserts of relations, one CTE each from `numbered`; a relation that none of the issues has adds no CTE. */
function relationStatements(issues: readonly PreparedIssue[]): string[] {
  const some = (has: (issue: PreparedIssue) => boolean) => issues.some(has);
  const event = (kind: string, columns: string, from = '', where = 'true') => `
    select '${kind}', id, actor_id, ${columns}, created_at from numbered${from} where ${where}`;
  const labels = ', unnest(label_ids) l';
  const isLabelled = some(({ labelIds }) => labelIds.length > 0);
  const events = [
    isLabelled && event('label', `'add', l, null::bigint, null::integer`, labels),
    some(({ milestoneId }) => milestoneId !== null) &&
      event('milestone', `'add', null::bigint, milestone_id, null::integer`, '', 'milestone_id is not null'),
    some(({ weight }) => weight !== null) &&
      event('weight', 'null, null::bigint, null::bigint, weight', '', 'weight is not null'),
  ].filter((text) => text !== false);
  return [
    some(({ assigneeIds }) => assigneeIds.length > 0) &&
      `assigned as (insert into issue_assignees (issue_id, user_id) select id, u from numbered, unnest(assignee_ids) u)`,
    isLabelled &&
      `labelled as (insert into label_links (label_id, issue_id) select l, id from numbered${labels})`,
    events.length > 0 &&
      `evented as (insert into resource_events
        (kind, issue_id, user_id, action, label_id, milestone_id, weight, created_at)${events.join(' union all ')})`,
    some(({ epicId }) => epicId !== null) &&
      `in_epic as (insert into epic_issues (epic_id, issue_id, relative_position)
        select epic_id, id, iid::bigint * ${POSITION_GAP} from numbered where epic_id is not null)`,
    some(({ issueType }) => issueType === 'incident') &&
      `timed as (insert into incident_timeline_events
          (project_id, issue_id, author_id, action, note, occurred_at, created_at, updated_at)
        select project_id, id, actor_id, 'created', 'created the incident', announced_at, announced_at, announced_at
        from numbered where issue_type = 'incident')`,
    some(({ todos }) => todos.length > 0) &&
      `todos_added as (insert into todos (user_id, author_id, project_id, issue_id, action, created_at, updated_at)
        select r.user_id, actor_id, project_id, id, r.action, announced_at, announced_at
        from numbered, unnest(todo_user_ids, todo_actions) as r(user_id, action))`,
  ].filter((text) => text !== false);
}

const given = recordset('$1', 'given', { ...inputColumns, ...issueColumns });
const columns = Object.keys(issueColumns).join(', ');

/**
 * The statement for issues that take the next numbers, or for one with a given number. Counters are updated,
 * and so locked, in the order of their projects, which avoids deadlocks. Ids, numbers and facts of one project have the order of
 * the issues. `lockTimeout` is evaluated before any lock is waited for.
 */
const insertion = (inserts: readonly IssueInsert[], lockTimeout?: string): string => `
  with given as materialized (select given.*${lockTimeout === undefined ? '' : `, ${lockTimeout} as lock_timeout`} from ${given}),
  counted as (insert into project_counters as c (project_id, issues, open_issues, open_confidential_issues)
    select project_id, coalesce(max(given_iid), count(*)), count(*), count(*) filter (where confidential)
      from given group by project_id order by project_id
    on conflict (project_id) do update set
      issues = ${inserts[0]?.issue.iid == null ? 'c.issues + excluded.issues' : 'greatest(c.issues, excluded.issues)'},
      open_issues = c.open_issues + excluded.open_issues,
      open_confidential_issues = c.open_confidential_issues + excluded.open_confidential_issues
    returning project_id, issues),
  numbered as (select given.*, coalesce(given_iid, counted.issues - count(*) over (partition by project_id) +
      row_number() over (partition by project_id order by ordinal)) as iid,
      nextval('issues_id_seq') as id
    from given join counted using (project_id)),
  made as (insert into issues (id, iid, relative_position, updated_at, ${columns}) overriding system value
    select id, iid, iid::bigint * ${POSITION_GAP}, created_at, ${columns} from numbered returning *),
  authors as materialized (select id, ${userBasicJson('a.id')} as author
    from (select distinct author_id as id from given) a),
  ${[
    ...relationStatements(inserts.map(({ issue }) => issue)),
    ...announcementStatements(inserts.map(announcementOf), 'numbered', 'issue_id'),
  ].join(',\n  ')}
  select made.*, numbered.ordinal, authors.author
  from made join numbered using (id) join authors on authors.id = made.author_id`;

async function insertAll(
  db: Db,
  inserts: readonly IssueInsert[],
  lockTimeout?: string,
): Promise<InsertedIssue[]> {
  const moment = now();
  const text = insertion(inserts, lockTimeout);
  const rows = inserts.map((insert, ordinal) => givenRow(insert, ordinal, moment));
  const found = await db.executeQuery<IssueRow & { author: UserBasicRow; ordinal: number }>(
    CompiledQuery.raw(text, [JSON.stringify(rows)]),
  );
  const inserted: InsertedIssue[] = [];
  for (const row of found.rows) inserted[row.ordinal] = { issue: row, author: row.author };
  return inserted;
}

const MAX_BATCH_ISSUES = 64;

const writes = batchedWrite(
  MAX_BATCH_ISSUES,
  ({ issue }: IssueInsert) => issue.title.length + (issue.description?.length ?? 0),
  insertAll,
);

/** Inserts the issue in the caller's transaction; 409 for a given number that is taken. */
export const insertIssue = writes.alone;

/** Inserts the issue in its own transaction or in that of a batch; 409 for a given number that is taken. */
export const insertIssueInBatch = (db: Db, insert: IssueInsert): Promise<InsertedIssue> =>
  // A given number that is taken would fail the batch.
  insert.issue.iid === null ? writes.together(db, insert) : writes.alone(db, insert);
