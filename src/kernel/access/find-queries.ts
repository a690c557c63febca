/** The rows that receipts are made of: projects and groups with the caller's levels on them, by one statement each. */
import { type Selectable, sql as statement } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { pointRead } from '../../platform/db/point-read.ts';
import type { UsersTable } from '../../platform/db/rows.ts';
import type { Actor, Caller } from '../actor.ts';
import { notificationLevels } from '../namespaces/notification-levels.ts';
import { type GroupRow, projectColumns, projectTables, type ReachedProjectRow } from '../namespaces/rows.ts';
import { DEVELOPER } from '../policy/roles.ts';
import {
  CALLER,
  callerCte,
  customAbilitiesOn,
  directProjectLevel,
  namespaceLevel,
  sharedProjectLevel,
  TODAY,
} from './membership-queries.ts';
import { projectsIn } from './resource-parent-queries.ts';

/** `:id` of the API: a number, or a full path. */
export type ObjectReference = string | number;

/** The id that a reference is; undefined for a path. */
export const asId = (reference: ObjectReference): number | undefined => {
  if (typeof reference === 'number') return reference;
  return /^\d{1,15}$/.test(reference) ? Number(reference) : undefined;
};

const NOBODY = 0;
const today = (): string => now().toISOString().slice(0, 10);

/** Projects that match a condition, with the caller's levels on them. */
const projectsWhere = (caller: string, date: string, condition: string) => `
  select ${projectColumns}, ${directProjectLevel(caller, date)} as level_project,
    greatest(${namespaceLevel(caller, date, 'contents')}, ${sharedProjectLevel(caller, date)}) as level_group,
    ${customAbilitiesOn(caller, date, true)} as custom_abilities,
    ${notificationLevels(caller)}
  from ${projectTables} where not p.deleting and ${condition}`;
const projectById = pointRead<ReachedProjectRow>(
  ['bigint', 'date', 'bigint'],
  projectsWhere('k.v1', 'k.v2', 'p.id = k.v3'),
);
const projectByPath = pointRead<ReachedProjectRow>(
  ['bigint', 'date', 'text', 'text'],
  projectsWhere('k.v1', 'k.v2', 'lower(n.full_path) collate "C" = k.v3 and lower(p.path) collate "C" = k.v4'),
);
const projectsByPaths = projectsWhere(
  '$1',
  '$2',
  '(lower(n.full_path) collate "C", lower(p.path) collate "C") in (select * from unnest($3::text[], $4::text[]))',
);

export type FoundGroup = GroupRow & {
  level: number;
  custom_abilities: string[] | null;
  reaches_inside: boolean;
  ancestor_archived: boolean;
  ancestor_scheduled: boolean;
};

// From the caller's memberships, which are few, not from the group's contents, which may be many.
const reachesInside = (caller: string, date: string) => `exists (
  select from members m left join projects p on p.id = m.project_id
  join namespaces d on d.id = coalesce(m.namespace_id, p.namespace_id)
  where m.user_id = ${caller} and n.id = any(d.ancestor_ids) and (m.expires_at is null or m.expires_at > ${date}))`;
const groupsWhere = (caller: string, date: string, condition: string) => `
  select n.*, ${namespaceLevel(caller, date, 'group')} as level,
    ${customAbilitiesOn(caller, date, false)} as custom_abilities, ${reachesInside(caller, date)} as reaches_inside,
    above.archived as ancestor_archived, above.scheduled as ancestor_scheduled
  from namespaces n cross join lateral (
    select bool_or(a.archived) as archived, bool_or(a.marked_for_deletion_on is not null) as scheduled
    from namespaces a where a.id = any(n.ancestor_ids)) above
  where n.kind = 'group' and not n.deleting and ${condition}`;
const groupById = pointRead<FoundGroup>(
  ['bigint', 'date', 'bigint'],
  groupsWhere('k.v1', 'k.v2', 'n.id = k.v3'),
);
const groupByPath = pointRead<FoundGroup>(
  ['bigint', 'date', 'text'],
  groupsWhere('k.v1', 'k.v2', 'lower(n.full_path) collate "C" = k.v3'),
);
const groupsByPaths = groupsWhere('$1', '$2', 'lower(n.full_path) collate "C" = any($3::text[])');

const prepared = { prepare: true } as const;

/** The parts of a full path in lower case: that of the namespace, and the project's own. */
function pathParts(fullPath: string): [string, string] {
  const path = fullPath.toLowerCase();
  const slash = path.lastIndexOf('/');
  return [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
}

export async function findProject(
  sql: Sql,
  caller: Caller,
  reference: ObjectReference,
): Promise<ReachedProjectRow | undefined> {
  const id = asId(reference);
  const user = caller?.id ?? NOBODY;
  if (id !== undefined) return projectById(sql, [user, today(), id]);
  const [space, path] = pathParts(String(reference));
  return space === '' ? undefined : projectByPath(sql, [user, today(), space, path]);
}

/** The project of an id, with the levels of each caller on it. */
export const findProjectForEach = (
  sql: Sql,
  callers: readonly Actor[],
  id: number,
): Promise<(ReachedProjectRow | undefined)[]> =>
  projectById.each(
    sql,
    callers.map((caller) => [caller.id, today(), id]),
  );

/** The id of the project that has one of the full paths. */
export async function findProjectAt(sql: Sql, fullPaths: readonly string[]): Promise<number | undefined> {
  const parts = fullPaths.map(pathParts);
  const [project] = await sql<{ id: number }[]>`
    select p.id from projects p join namespaces n on n.id = p.namespace_id
    where (lower(n.full_path) collate "C", lower(p.path) collate "C") in (
      select * from unnest(${parts.map(([space]) => space)}::text[], ${parts.map(([, path]) => path)}::text[]))
    limit 1`;
  return project?.id;
}

/** The id of the project that had the path before. */
export async function findRedirected(sql: Sql, fullPath: string): Promise<number | undefined> {
  const [redirect] = await sql<{ project_id: number }[]>`
    select project_id from project_redirects where path = ${fullPath.toLowerCase()}`;
  return redirect?.project_id;
}

/**
 * Whether the project lets jobs of another one use it by their tokens: it lists that project or a group around it, or lets all
 * in, where the instance allows that.
 */
export async function isLetIn(
  sql: Sql,
  jobProjectId: number,
  { id, inbound_job_token_scope_enabled: listed }: ReachedProjectRow,
): Promise<boolean> {
  const rows = await sql`
    select from projects j join namespaces n on n.id = j.namespace_id where j.id = ${jobProjectId} and (
      not ${listed}::boolean and not exists (
        select from application_settings where values @> '{"enforce_ci_inbound_job_token_scope_enabled": true}')
      or exists (select from job_token_allowlist a where a.project_id = ${id}
        and (a.allowed_project_id = j.id or a.allowed_namespace_id = any(n.ancestor_ids))))`;
  return rows.length > 0;
}

/** Whether administrators let projects open their packages to everybody. */
export async function mayRegistriesBePublic(sql: Sql): Promise<boolean> {
  const forbidding = await sql`
    select from application_settings where values @> '{"package_registry_allow_anyone_to_pull_option": false}'`;
  return forbidding.length === 0;
}

/** Whether a project below the group has opened its packages to everybody, and may. */
export async function hasPublicPackages(sql: Sql, groupId: number): Promise<boolean> {
  const projects = await sql`
    select from projects p where not p.deleting and p.settings ->> 'package_registry_access_level' = 'public'
      and p.namespace_id in (select id from namespaces where ancestor_ids @> array[${groupId}]::bigint[]) limit 1`;
  return projects.length > 0 && (await mayRegistriesBePublic(sql));
}

/** The projects of these full paths, by one statement. */
export async function findProjects(
  sql: Sql,
  caller: Caller,
  paths: readonly string[],
): Promise<ReachedProjectRow[]> {
  const parts = paths.map(pathParts).filter(([space]) => space !== '');
  if (parts.length === 0) return [];
  const parameters = [
    caller?.id ?? NOBODY,
    today(),
    parts.map(([space]) => space),
    parts.map(([, path]) => path),
  ];
  return sql.unsafe<ReachedProjectRow[]>(projectsByPaths, parameters, prepared);
}

const oneProject = statement.raw(projectsWhere(CALLER, TODAY, 'p.id ='));

/** The oldest project right in the group of those whose planning the caller reads. */
export async function findFirstProject(
  db: Db,
  caller: Caller,
  groupId: number,
): Promise<ReachedProjectRow | undefined> {
  const first = statement`select id from projects
    where id in ${projectsIn(caller, statement`(${groupId}::bigint)`)} order by id limit 1`;
  const { rows } = await statement<ReachedProjectRow>`
    with ${callerCte(caller)} ${oneProject} (${first})`.execute(db);
  return rows[0];
}

/** The scope of a deploy token: a project, or all projects below a group. */
export type DeployTokenHome = { project_id: number | null; namespace_id: number | null };

const projectOfDeployToken = (condition: string) => `
  select ${projectColumns}, ${DEVELOPER} as level_project, 0 as level_group from ${projectTables}
  where not p.deleting and (p.id = $1 or $2 = any(n.ancestor_ids)) and ${condition}`;
const projectOfDeployTokenById = projectOfDeployToken('p.id = $3');
const projectOfDeployTokenByPath = projectOfDeployToken(
  'lower(n.full_path) collate "C" = $3 and lower(p.path) collate "C" = $4',
);

/** A project in the deploy token's scope. */
export async function findProjectOfDeployToken(
  sql: Sql,
  home: DeployTokenHome,
  reference: ObjectReference,
): Promise<ReachedProjectRow | undefined> {
  const id = asId(reference);
  const [row] = await sql.unsafe<ReachedProjectRow[]>(
    id === undefined ? projectOfDeployTokenByPath : projectOfDeployTokenById,
    [home.project_id, home.namespace_id, ...(id === undefined ? pathParts(String(reference)) : [id])],
    prepared,
  );
  return row;
}

/** The group of a reference, if this one is it or is above it. */
export async function findGroupBelow(
  sql: Sql,
  aboveId: number,
  reference: ObjectReference,
): Promise<{ id: number } | undefined> {
  const { id, path } = idOrPath(reference);
  const [group] = await sql<{ id: number }[]>`
    select id from namespaces where kind = 'group' and not deleting and ${aboveId}::bigint = any(ancestor_ids)
      and (id = ${id}::bigint or lower(full_path) collate "C" = ${path}::text)`;
  return group;
}

/** The group of a reference, if the project is below it. */
export async function findGroupAround(
  sql: Sql,
  projectId: number,
  reference: ObjectReference,
): Promise<{ id: number } | undefined> {
  const { id, path } = idOrPath(reference);
  const [group] = await sql<{ id: number }[]>`
    select g.id from projects p join namespaces n on n.id = p.namespace_id join namespaces g on g.id = any(n.ancestor_ids)
    where p.id = ${projectId} and not p.deleting and g.kind = 'group' and not g.deleting
      and (g.id = ${id}::bigint or lower(g.full_path) collate "C" = ${path}::text)`;
  return group;
}

function idOrPath(reference: ObjectReference): { id: number | null; path: string | null } {
  const id = asId(reference);
  return id === undefined ? { id: null, path: String(reference).toLowerCase() } : { id, path: null };
}

const projectOfProgram = `
  select ${projectColumns}, ${DEVELOPER} as level_project, 0 as level_group from ${projectTables}
  where not p.deleting and p.id = $1`;

/** A project for the program's own work. */
export async function findProjectOfProgram(sql: Sql, id: number): Promise<ReachedProjectRow | undefined> {
  const [row] = await sql.unsafe<ReachedProjectRow[]>(projectOfProgram, [id], prepared);
  return row;
}

export async function findGroup(
  sql: Sql,
  caller: Caller,
  reference: ObjectReference,
): Promise<FoundGroup | undefined> {
  const id = asId(reference);
  const [user, date] = [caller?.id ?? NOBODY, today()];
  return id === undefined
    ? groupByPath(sql, [user, date, String(reference).toLowerCase()])
    : groupById(sql, [user, date, id]);
}

/** The group of an id, with the level of each caller on it. */
export const findGroupForEach = (
  sql: Sql,
  callers: readonly Actor[],
  id: number,
): Promise<(FoundGroup | undefined)[]> =>
  groupById.each(
    sql,
    callers.map((caller) => [caller.id, today(), id]),
  );

/** The groups of these full paths, by one statement. */
export async function findGroups(sql: Sql, caller: Caller, paths: readonly string[]): Promise<FoundGroup[]> {
  if (paths.length === 0) return [];
  const parameters = [caller?.id ?? NOBODY, today(), paths.map((path) => path.toLowerCase())];
  return sql.unsafe<FoundGroup[]>(groupsByPaths, parameters, prepared);
}

export type UserRow = Selectable<UsersTable>;

const userById = 'select * from users where id = $1 and deletion is null';
const userByName = `select * from users where lower(username) collate "C" = $1 and deletion is null`;

/** The user of an id or a username, which is case-insensitive. */
export async function findUserRow(sql: Sql, reference: ObjectReference): Promise<UserRow | undefined> {
  const id = asId(String(reference));
  const [row] =
    id === undefined
      ? await sql.unsafe<UserRow[]>(userByName, [String(reference).toLowerCase()], { prepare: true })
      : await sql.unsafe<UserRow[]>(userById, [id], { prepare: true });
  return row;
}
