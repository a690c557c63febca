/** Reads runners, their managers, and the projects that have them. */
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import { openTo, seesAll, withReached } from '../../../kernel/access/group-list-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { groupSettings } from '../../../kernel/namespaces/group-settings.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../../kernel/namespaces/rows.ts';
import { groupPolicy, projectPolicy } from '../../../kernel/policy/policy.ts';
import { GUEST, type Role } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { RunnerManagersTable, RunnersTable } from '../../../platform/db/rows.ts';
import { offsetPage, type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { ONLINE_MS, RECENT_MS, type RunnerStatus, type RunnerType } from './rules.ts';

/** How long ago, as of now. */
const before = (milliseconds: number): Date => new Date(now().getTime() - milliseconds);

/** Whether a runner is new, or was heard of not long ago. */
const isRecent = (): RawBuilder<SqlBool> =>
  sql`greatest(runners.created_at, runners.contacted_at) > ${before(RECENT_MS)}`;

/** The status of a row of the table. */
const statusOf = (table: 'runners' | 'runner_managers'): RawBuilder<RunnerStatus> => {
  const [created, contacted] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.contacted_at`)];
  return sql`case when greatest(${created}, ${contacted}) <= ${before(RECENT_MS)} then 'stale'
    when ${contacted} is null then 'never_contacted'
    when ${contacted} > ${before(ONLINE_MS)} then 'online' else 'offline' end`;
};

/** Whether any job runs by it. */
const runsJobs = (column: 'runner_id' | 'runner_manager_id', id: string): RawBuilder<boolean> =>
  sql`exists (select from ci_jobs j where j.${sql.ref(column)} = ${sql.ref(id)} and j.status in ('running', 'canceling'))`;

/** Runners with who made them. */
const runners = (db: Db) =>
  db
    .selectFrom('runners')
    .leftJoin('users', 'users.id', 'runners.creator_id')
    .selectAll('runners')
    .select([
      'users.username',
      'users.public_email',
      'users.name',
      'users.state',
      'users.locked_at',
      'users.avatar',
      'users.email',
    ])
    .select([statusOf('runners').as('status'), runsJobs('runner_id', 'runners.id').as('runs_jobs')]);

/** One of them with its group, if it is of one, and the manager that was heard of last. */
const oneRunner = (db: Db, id: number) =>
  runners(db)
    .leftJoin('namespaces', 'namespaces.id', 'runners.namespace_id')
    .leftJoin('runner_managers', (join) =>
      join.on(
        'runner_managers.id',
        '=',
        sql<number>`(select m.id from runner_managers m where m.runner_id = runners.id
          order by m.contacted_at desc nulls last, m.id desc limit 1)`,
      ),
    )
    .select([
      'namespaces.name as group_name',
      'namespaces.full_path as group_full_path',
      'runner_managers.version',
      'runner_managers.revision',
      'runner_managers.platform',
      'runner_managers.architecture',
    ])
    .where('runners.id', '=', id);

type Selected<Query extends (...of: never[]) => { executeTakeFirstOrThrow(): Promise<unknown> }> = Awaited<
  ReturnType<ReturnType<Query>['executeTakeFirstOrThrow']>
> & { runner_type: RunnerType }; // The check constraint admits these only.
export type RunnerRow = Selected<typeof runners>;
export type DetailedRunnerRow = Selected<typeof oneRunner>;

/** The caller's reach with at least these roles: of groups, and of projects. */
type Least = { group: Role; project: Role };
const managing: Least = {
  group: groupPolicy.manage_runners.least,
  project: projectPolicy.manage_runners.least,
};
const reading: Least = { group: groupPolicy.read_runners.least, project: projectPolicy.read_runners.least };

const groupsOf = ({ group }: Least) => sql`(select id from reached_groups where level >= ${sql.lit(group)})`;

/** The condition on projects `p`, over the CTEs of withReached(). */
const isReached = (least: number): RawBuilder<SqlBool> => sql`not p.deleting and (
  p.namespace_id in (select id from reached_groups where level >= ${sql.lit(least)})
  or p.id in (select id from reached_projects where level >= ${sql.lit(least)}))`;

/** Groups whose runners are there for a group, or a project, of whose runners the caller reads. */
const groupsAbove = ({ group, project }: Least) => sql`(
  select unnest(n.ancestor_ids) from namespaces n where n.id in (
    select id from reached_groups where level >= ${sql.lit(group)}
    union select p.namespace_id from reached_projects r join projects p on p.id = r.id
    where r.level >= ${sql.lit(project)} and not p.deleting))`;

const ownerOf = (runner: RawBuilder<unknown>) =>
  sql`(select project_id from runner_projects where runner_id = ${runner} order by id limit 1)`;

/** What the caller may do with a runner: 2 all, 1 read, 0 nothing, not even know of it. */
export type RunnerStanding = 0 | 1 | 2;

function standingOf(actor: Actor): RawBuilder<RunnerStanding> {
  if (actor.admin) return sql`2`;
  const readable = actor.auditor ? sql`true` : sql`runners.runner_type = 'instance_type'`;
  return sql`(${withReached(actor)} select case
    when runners.namespace_id in ${groupsOf(managing)} or exists (
      select from projects p where p.id = ${ownerOf(sql`runners.id`)} and ${isReached(managing.project)}) then 2
    when ${readable} or runners.namespace_id in ${groupsAbove(reading)} or exists (
      select from runner_projects o join projects p on p.id = o.project_id
      where o.runner_id = runners.id and ${isReached(reading.project)}) then 1
    else 0 end)`;
}

/** The runner with what the caller may do with it. */
export async function selectRunnerFor(
  db: Db,
  actor: Actor,
  id: number,
): Promise<(DetailedRunnerRow & { standing: RunnerStanding }) | undefined> {
  const row = await oneRunner(db, id).select(standingOf(actor).as('standing')).executeTakeFirst();
  return row as (DetailedRunnerRow & { standing: RunnerStanding }) | undefined;
}

export async function selectRunner(db: Db, id: number): Promise<DetailedRunnerRow> {
  return (await oneRunner(db, id).executeTakeFirstOrThrow()) as DetailedRunnerRow;
}

export type RunnerFilters = {
  type?: RunnerType | undefined;
  paused?: boolean | undefined;
  status?: RunnerStatus | 'active' | 'paused' | undefined;
  tag_list?: readonly string[] | undefined;
  version_prefix?: string | undefined;
  /** The old parameter, with words of the two above. */
  scope?: string | undefined;
};

const isOf = (types: readonly string[]): RawBuilder<SqlBool> =>
  sql`runners.runner_type = any(${[...types]}::text[])`;

/** The condition of a word of `type`, `status` or `scope`. */
function isWord(word: string): RawBuilder<SqlBool> {
  if (word === 'active' || word === 'paused') return sql`runners.paused = ${word === 'paused'}`;
  if (word === 'shared') return isOf(['instance_type']);
  if (word === 'specific') return isOf(['group_type', 'project_type']);
  return word.endsWith('_type') ? isOf([word]) : sql`${statusOf('runners')} = ${word}`;
}

function matches(filters: RunnerFilters): RawBuilder<SqlBool> {
  const { type, paused, status, tag_list = [], version_prefix, scope } = filters;
  const words = [type, status, scope].filter((word) => word !== undefined);
  return sql.join(
    [
      sql`true`,
      ...words.map(isWord),
      ...(paused === undefined ? [] : [sql`runners.paused = ${paused}`]),
      ...(tag_list.length === 0 ? [] : [sql`runners.tag_list @> ${[...tag_list]}::text[]`]),
      ...(version_prefix === undefined
        ? []
        : [
            sql`exists (select from runner_managers m
              where m.runner_id = runners.id and starts_with(m.version, ${version_prefix}))`,
          ]),
    ],
    sql` and `,
  );
}

const list = (
  db: Db,
  condition: RawBuilder<SqlBool>,
  filters: RunnerFilters,
  page: PageRequest,
): Promise<Page<RunnerRow>> =>
  selectPage(
    db,
    runners(db).where(condition).where(matches(filters)),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'runners.id' },
  ) as Promise<Page<RunnerRow>>;

/** One page of all, oldest first, as of each list. */
export const selectAllRunners = (db: Db, filters: RunnerFilters, page: PageRequest) =>
  list(db, sql`true`, filters, page);

/** Those of the groups and projects where the caller manages runners. */
export const selectOwnRunners = (db: Db, actor: Actor, filters: RunnerFilters, page: PageRequest) =>
  list(
    db,
    sql`runners.id in (${withReached(actor)}
      select r.id from runners r where r.namespace_id in ${groupsOf(managing)}
      union select o.runner_id from runner_projects o join projects p on p.id = o.project_id
      where ${isReached(managing.project)})`,
    filters,
    page,
  );

/** Runners of these groups and, where it is allowed, of the instance: each part by its own index. */
const ofGroups = (groups: readonly number[], andInstance: boolean): RawBuilder<unknown> => sql`
  select id from runners where namespace_id = any(${[...groups]}::bigint[])
  union all select id from runners where runner_type = 'instance_type' and ${andInstance}`;

/** Those that jobs of the project may go to: its own, those of the groups above, and those of the instance. */
export function selectProjectRunners(
  db: Db,
  { id, row }: AuthorizedProject,
  filters: RunnerFilters,
  page: PageRequest,
): Promise<Page<RunnerRow>> {
  const { group_runners_enabled, shared_runners_enabled } = projectSettings(row);
  const others = ofGroups(group_runners_enabled ? row.ancestor_ids : [], shared_runners_enabled);
  return list(
    db,
    sql`runners.id in (select runner_id from runner_projects where project_id = ${id} union all ${others})`,
    filters,
    page,
  );
}

/** Those of the group and the groups above, and those of the instance. */
export const selectGroupRunners = (
  db: Db,
  { row }: AuthorizedGroup,
  filters: RunnerFilters,
  page: PageRequest,
): Promise<Page<RunnerRow>> => {
  const andInstance = groupSettings(row).shared_runners_setting !== 'disabled_and_unoverridable';
  return list(db, sql`runners.id in (${ofGroups(row.ancestor_ids, andInstance)})`, filters, page);
};

const seenProjects = (actor: Actor, runnerId: number): RawBuilder<unknown> => {
  const seen = seesAll(actor) ? sql`true` : sql`(p.visibility >= ${openTo(actor)} or (${isReached(GUEST)}))`;
  return sql`${sql.raw(projectTables)} join runner_projects a on a.project_id = p.id
    where a.runner_id = ${runnerId} and not p.deleting and ${seen}`;
};

const selectProjects = async (
  db: Db,
  actor: Actor,
  runnerId: number,
  limit: number,
  offset: number,
): Promise<ProjectRow[]> => {
  const { rows } = await sql<ProjectRow>`${withReached(actor)}
    select ${sql.raw(projectColumns)} from ${seenProjects(actor, runnerId)}
    order by a.id limit ${limit} offset ${offset}`.execute(db);
  return rows;
};

/** The first projects of the runner that the caller sees, the owner first. */
export const selectFirstProjects = (db: Db, actor: Actor, runnerId: number): Promise<ProjectRow[]> =>
  selectProjects(db, actor, runnerId, 100, 0);

/** One page of them. */
export async function selectProjectsOfRunner(
  db: Db,
  actor: Actor,
  runnerId: number,
  page: PageRequest,
): Promise<Page<ProjectRow>> {
  if (page.kind !== 'offset') throw new Error('this list has no keyset pages');
  const rows = await selectProjects(db, actor, runnerId, page.perPage + 1, page.offset);
  return offsetPage(page, rows, async () => {
    const counted = await sql<{ count: number }>`${withReached(actor)}
      select count(*)::integer as count from (
        select from ${seenProjects(actor, runnerId)} limit ${page.countLimit + 1}) counted`.execute(db);
    return counted.rows[0]?.count ?? 0;
  });
}

export type ManagerRow = Selectable<RunnerManagersTable> & { status: RunnerStatus; runs_jobs: boolean };

const managers = (db: Db) =>
  db
    .selectFrom('runner_managers')
    .selectAll()
    .select([
      statusOf('runner_managers').as('status'),
      runsJobs('runner_manager_id', 'runner_managers.id').as('runs_jobs'),
    ]);

/** Those that have these ids. */
export const selectRunnersOf = (db: Db, ids: readonly number[]): Promise<RunnerRow[]> =>
  runners(db).where('runners.id', 'in', ids).execute() as Promise<RunnerRow[]>;
export const selectManagersOf = (db: Db, ids: readonly number[]): Promise<ManagerRow[]> =>
  managers(db).where('runner_managers.id', 'in', ids).execute();

/** One page of the processes of a runner, oldest first. */
export const selectManagers = (db: Db, runnerId: number, page: PageRequest): Promise<Page<ManagerRow>> =>
  selectPage(
    db,
    managers(db).where('runner_id', '=', runnerId),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'runner_managers.id' },
  );

/** Of a locked runner, the projects that have it, the owner first. */
export const selectAssignments = (
  tx: Db,
  runnerId: number,
): Promise<{ project_id: number; created_at: Date }[]> =>
  tx
    .selectFrom('runner_projects')
    .select(['project_id', 'created_at'])
    .where('runner_id', '=', runnerId)
    .orderBy('id')
    .execute();

/** Whose a runner is, or will be: the instance's, a group's, or a project's, which owns it. */
export type RunnerHome =
  | { type: 'instance_type' }
  | { type: 'group_type' | 'project_type'; id: number; path: string };

type HomeRow = {
  project_id: number | null;
  namespace_id: number | null;
  project_path: string | null;
  group_path: string | null;
};

function homeOf({ project_id, project_path, namespace_id, group_path }: HomeRow): RunnerHome {
  if (project_id !== null && project_path !== null)
    return { type: 'project_type', id: project_id, path: project_path };
  if (namespace_id !== null && group_path !== null)
    return { type: 'group_type', id: namespace_id, path: group_path };
  return { type: 'instance_type' };
}

/** Whose the registration token with the digest is; undefined for no token. */
export async function selectRegistering(db: Db, digest: Buffer): Promise<RunnerHome | undefined> {
  const { rows } = await sql<HomeRow>`
    select p.id as project_id, n.full_path || '/' || p.path as project_path, g.id as namespace_id, g.full_path as group_path
    from runner_registration_tokens t
    left join projects p on p.id = t.project_id left join namespaces n on n.id = p.namespace_id
    left join namespaces g on g.id = t.namespace_id
    where t.digest = ${digest} and p.deleting is not true and g.deleting is not true`.execute(db);
  return rows[0] && homeOf(rows[0]);
}

/** The row itself, locked until the transaction ends, and whose it is; an orphan is the instance's. */
export async function lockRunner(tx: Db, id: number) {
  const { rows } = await sql<Selectable<RunnersTable> & { runner_type: RunnerType; home: HomeRow }>`
    select r.*, jsonb_build_object('project_id', p.id, 'project_path', n.full_path || '/' || p.path,
      'namespace_id', g.id, 'group_path', g.full_path) as home
    from runners r left join projects p on p.id = ${ownerOf(sql`r.id`)} left join namespaces n on n.id = p.namespace_id
    left join namespaces g on g.id = r.namespace_id where r.id = ${id} for update of r`.execute(tx);
  const [row] = rows;
  return row && { ...row, home: homeOf(row.home) };
}

/** How many recent runners a group, or a project, has, and whether one of them all is the given one. */
export async function countRecent(
  tx: Db,
  { type, id }: { type: 'group_type' | 'project_type'; id: number },
  runnerId: number | null = null,
): Promise<{ count: number; has: boolean }> {
  const own =
    type === 'group_type'
      ? sql`namespace_id = ${id}`
      : sql`id in (select runner_id from runner_projects where project_id = ${id})`;
  const { rows } = await sql<{ count: number; has: boolean }>`
    select count(*) filter (where ${isRecent()})::integer as count,
      coalesce(bool_or(id = ${runnerId}), false) as has from runners where ${own}`.execute(tx);
  return rows[0] ?? { count: 0, has: false };
}
