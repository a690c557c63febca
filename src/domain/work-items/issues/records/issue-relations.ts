/** Relations of issues for their records (issue-records.ts), loaded for all of them at once. */
import { sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Services } from '../../../../kernel/services.ts';
import { type UserBasicRow, userBasicColumns } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { isSubscribed } from '../../../conversation/index.ts';
import { type LabelRow, labelsOf, type MilestoneWithPath, milestonesById } from '../../../planning/index.ts';
import { visibleEpics } from '../../epics/records/epic-visibility.ts';
import { issueKind } from './issue-noteable.ts';
import type { IssueRow } from './issue-rows.ts';
import { visibleIssues } from './issue-visibility.ts';

/** Seconds spent, and how many open issues this one blocks. */
type Counts = { id: number; spent: number; blocking: number };
type EpicOfIssue = {
  issue_id: number;
  id: number;
  iid: number;
  title: string;
  group_id: number;
  group_path: string;
};

export type IssueRelations = {
  /** Authors, and users who closed issues. */
  people: ReadonlyMap<number, UserBasicRow>;
  /** By issue id, but paths by project id, and milestones and originals by their own ids. */
  assignees: ReadonlyMap<number, readonly UserBasicRow[]>;
  paths: ReadonlyMap<number, string>;
  labels: ReadonlyMap<number, readonly LabelRow[]>;
  milestones: ReadonlyMap<number, MilestoneWithPath>;
  counts: ReadonlyMap<number, Counts>;
  epics: ReadonlyMap<number, EpicOfIssue>;
  /** The issues that these were closed as duplicates of, where the reader sees them. */
  originals: ReadonlyMap<number, { project_id: number; iid: number }>;
  /** Of a single issue, for a signed-in reader. */
  subscribed: boolean | undefined;
};

const unique = (ids: readonly (number | null)[]): number[] => [
  ...new Set(ids.filter((id): id is number => id !== null)),
];
const listed = (ids: readonly number[]) => sql`${[...ids]}::bigint[]`;

/** All relations of the rows (at least one), by statements that do not wait for each other. */
export async function loadIssueRelations(
  { db, services, actor }: { db: Db; services: Services; actor: Caller },
  rows: readonly IssueRow[],
  single: boolean,
): Promise<IssueRelations> {
  const ids = rows.map((row) => row.id);
  const [people, assignees, paths, labels, milestones, counts, epics, originals, subscribed] =
    await Promise.all([
      peopleById(db, unique(rows.flatMap((row) => [row.author_id, row.closed_by_id]))),
      assigneesOf(db, ids),
      pathsById(db, unique(rows.map((row) => row.project_id))),
      labelsOf(db, 'issue', ids),
      milestonesById(db, unique(rows.map((row) => row.milestone_id))),
      countsOf(db, ids),
      services.config.tier === 'free' ? new Map<number, EpicOfIssue>() : epicsOf(db, actor, ids),
      originalsById(db, actor, unique(rows.map((row) => row.duplicated_to_id))),
      single && actor ? isSubscribed(db, actor.id, { kind: issueKind, id: ids[0] }) : undefined,
    ]);
  return { people, assignees, paths, labels, milestones, counts, epics, originals, subscribed };
}

async function peopleById(db: Db, ids: readonly number[]): Promise<Map<number, UserBasicRow>> {
  const users = await db.selectFrom('users').select(userBasicColumns).where('id', 'in', ids).execute();
  return new Map(users.map((user) => [user.id, user]));
}

async function assigneesOf(db: Db, ids: readonly number[]): Promise<Map<number, UserBasicRow[]>> {
  const users = await db
    .selectFrom('issue_assignees')
    .innerJoin('users', 'users.id', 'issue_assignees.user_id')
    .select(userBasicColumns)
    .select('issue_assignees.issue_id')
    .where('issue_assignees.issue_id', 'in', ids)
    .orderBy('users.id')
    .execute();
  const byIssue = new Map<number, UserBasicRow[]>();
  for (const user of users) {
    const known = byIssue.get(user.issue_id);
    if (known) known.push(user);
    else byIssue.set(user.issue_id, [user]);
  }
  return byIssue;
}

async function pathsById(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  const projects = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.id', 'projects.path', 'namespaces.full_path'])
    .where('projects.id', 'in', ids)
    .execute();
  return new Map(projects.map((project) => [project.id, `${project.full_path}/${project.path}`]));
}

async function countsOf(db: Db, ids: readonly number[]): Promise<Map<number, Counts>> {
  const { rows } = await sql<Counts>`
    select asked.id,
      (select coalesce(sum(t.seconds), 0)::bigint from timelogs t where t.issue_id = asked.id) as spent,
      (select count(*) from issue_links l join issues blocked on blocked.id = l.target_id
        where l.source_id = asked.id and l.link_type = 'blocks' and blocked.state = 'opened') as blocking
    from unnest(${listed(ids)}) as asked(id)`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The epics that the reader sees. */
async function epicsOf(db: Db, caller: Caller, ids: readonly number[]): Promise<Map<number, EpicOfIssue>> {
  const { rows } = await sql<EpicOfIssue>`
    select x.issue_id, epics.id, epics.iid, epics.title, home.id as group_id, home.full_path as group_path
    from epic_issues x join epics on epics.id = x.epic_id join namespaces home on home.id = epics.namespace_id
    where x.issue_id = any(${listed(ids)}) and ${visibleEpics(caller)}`.execute(db);
  return new Map(rows.map((row) => [row.issue_id, row]));
}

async function originalsById(
  db: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<Map<number, { project_id: number; iid: number }>> {
  if (ids.length === 0) return new Map();
  const { ctes, condition } = visibleIssues(caller);
  const { rows } = await sql<{ id: number; project_id: number; iid: number }>`
    with ${ctes}
    select i.id, i.project_id, i.iid from issues i join issue_projects v on v.id = i.project_id
    where i.id = any(${listed(ids)}) and ${condition}`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
