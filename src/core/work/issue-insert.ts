/**
 * The birth of an issue as one statement: the number, the row, and all that hangs on it. Where that is a transaction of its
 * own, the project's counter is locked for no trip to the database; and a number is never taken in vain.
 */
import { CompiledQuery } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { declareUnique, translateDatabaseError } from '../../platform/db/errors.ts';
import { DEFERRED_FLUSH } from '../../platform/db/flush.ts';
import type { AuthorizedProject } from '../access/find.ts';
import { auditRow } from '../activity/announce.ts';
import type { Actor } from '../identity/actor.ts';
import type { UserBasicRow } from '../identity/records.ts';
import { countUp } from './counters.ts';
import type { Reminder } from './issue-named.ts';
import type { IssueRow } from './issue-rows.ts';
import { issueAnnouncement } from './work-events.ts';

declareUnique('issues_project_iid', 'iid', 'conflict');

/** How far apart issues are placed, so that others can be put between them. */
export const PLACE_GAP = 65_536;

export type BornIssue = {
  /** The next one where it is null. */
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
  reminders: readonly Reminder[];
};

/** A statement that is put together: `give` adds a value and returns its place in the text. */
function statement() {
  const values: unknown[] = [];
  const give = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  return { values, give };
}

type Parts = {
  give: (value: unknown, type: string) => string;
  actorId: string;
  projectId: string;
  time: string;
};

/** What an issue has at its sides, each as a CTE beside `made`; what it has not costs nothing. */
function sideStatements(issue: BornIssue, { give, actorId, projectId, time }: Parts): string[] {
  const parts: string[] = [];
  const event = (
    kind: string,
    action: string,
    label: string,
    milestone: string,
    weight: string,
    from: string,
  ) => `
    select '${kind}', made.id, ${actorId}, ${action}, ${label}, ${milestone}, ${weight}, made.created_at from made${from}`;
  const events: string[] = [];
  if (issue.assigneeIds.length > 0) {
    parts.push(`assigned as (insert into issue_assignees (issue_id, user_id)
      select made.id, u from made, unnest(${give([...issue.assigneeIds], 'bigint[]')}) u)`);
  }
  if (issue.labelIds.length > 0) {
    const labels = give([...issue.labelIds], 'bigint[]');
    parts.push(`labelled as (insert into label_links (label_id, issue_id)
      select l, made.id from made, unnest(${labels}) l)`);
    events.push(event('label', `'add'`, 'l', 'null::bigint', 'null::integer', `, unnest(${labels}) l`));
  }
  if (issue.milestoneId !== null) {
    events.push(event('milestone', `'add'`, 'null::bigint', 'made.milestone_id', 'null::integer', ''));
  }
  if (issue.weight !== null) {
    events.push(event('weight', 'null', 'null::bigint', 'null::bigint', 'made.weight', ''));
  }
  if (events.length > 0) {
    parts.push(`told as (insert into resource_events
      (kind, issue_id, user_id, action, label_id, milestone_id, weight, created_at)${events.join(' union all ')})`);
  }
  if (issue.epicId !== null) {
    parts.push(`in_epic as (insert into epic_issues (epic_id, issue_id, relative_position)
      select ${give(issue.epicId, 'bigint')}, made.id, made.relative_position from made)`);
  }
  if (issue.reminders.length > 0) {
    const users = give(
      issue.reminders.map(({ userId }) => userId),
      'bigint[]',
    );
    const actions = give(
      issue.reminders.map(({ action }) => action),
      'text[]',
    );
    parts.push(`reminded as (insert into todos (user_id, author_id, project_id, issue_id, action, created_at, updated_at)
      select r.user_id, ${actorId}, ${projectId}, made.id, r.action, ${time}, ${time}
      from made, unnest(${users}, ${actions}) as r(user_id, action))`);
  }
  return parts;
}

/** The row, and its author as records show people. */
export type Born = { issue: IssueRow; author: UserBasicRow };

/**
 * Inserts it all; 409 for a given number that is taken. Deferred, the caller awaits flushed() before it answers anybody;
 * whoever else wants a number of the project then waits for no disk.
 */
export async function insertIssue(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  issue: BornIssue,
  flush: 'with_commit' | 'deferred' = 'with_commit',
): Promise<Born> {
  const moment = now();
  const announcement = issueAnnouncement(actor, project, issue, 'issue_created');
  const [audit] = auditRow(announcement, moment);
  const { values, give } = statement();
  const [projectId, actorId, time] = [
    give(project.id, 'bigint'),
    give(actor.id, 'bigint'),
    give(moment, 'timestamptz'),
  ];
  const createdAt = give(issue.createdAt, 'timestamptz');
  const columns = {
    author_id: give(issue.authorId, 'bigint'),
    title: give(issue.title, 'text'),
    description: give(issue.description, 'text'),
    issue_type: give(issue.issueType, 'text'),
    severity: give(issue.severity, 'text'),
    confidential: give(issue.confidential, 'boolean'),
    discussion_locked: give(issue.discussionLocked, 'boolean'),
    milestone_id: give(issue.milestoneId, 'bigint'),
    start_date: give(issue.startDate, 'date'),
    due_date: give(issue.dueDate, 'date'),
    weight: give(issue.weight, 'integer'),
    health_status: give(issue.healthStatus, 'text'),
    time_estimate: give(issue.timeEstimate, 'integer'),
    user_agent: give(issue.userAgent, 'text'),
    ip_address: give(issue.address, 'text'),
  };
  const details = (value: unknown, name: string) =>
    `${give(JSON.stringify(value), 'text')}::jsonb || jsonb_build_object('${name}', made.id)`;
  const number = countUp(
    'project',
    'issues',
    projectId,
    issue.iid === null ? 'null' : give(issue.iid, 'integer'),
    // Every new issue is open; a trigger counts how that changes.
    { open_issues: '1', ...(issue.confidential && { open_confidential_issues: '1' }) },
  );
  const parts = [
    `number as (${number})`,
    `made as (insert into issues (iid, project_id, relative_position, created_at, updated_at, ${Object.keys(columns).join(', ')})
      select iid, ${projectId}, iid::bigint * ${PLACE_GAP}, ${createdAt}, ${createdAt}, ${Object.values(columns).join(', ')}
      from number returning *)`,
    ...sideStatements(issue, { give, actorId, projectId, time }),
    `shown as (insert into activity_events (action, author_id, project_id, target_type, target_id, created_at)
      select 'created', ${actorId}, ${projectId}, 'Issue', made.id, ${time} from made)`,
    `audited as (insert into audit_events (author_id, entity_type, entity_id, event_name, details, created_at)
      select ${actorId}, 'Project', ${projectId}, 'issue_created', ${details(audit?.details, 'target_id')}, ${time} from made)`,
    `heard as (insert into outbox (fact, payload, created_at)
      select 'issue_created', ${details(announcement.fact?.payload, 'issue_id')}, ${time} from made)`,
  ];
  const text = `with ${parts.join(',\n')}
    select made.*, jsonb_build_object('id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'avatar', u.avatar,
      'public_email', u.public_email, 'locked', u.locked_at is not null, 'email', u.email) as author${flush === 'deferred' ? `, ${DEFERRED_FLUSH} as flush` : ''}
    from made left join users u on u.id = made.author_id`;
  try {
    const { rows } = await db.executeQuery<IssueRow & { author: UserBasicRow; flush?: string }>(
      CompiledQuery.raw(text, values),
    );
    const [row] = rows;
    if (!row) throw new Error('an insert returns its row');
    const { author, flush: _, ...made } = row;
    return { issue: made, author };
  } catch (error) {
    throw translateDatabaseError(error);
  }
}
