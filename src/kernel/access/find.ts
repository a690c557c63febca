/** Finds a project or group and decides for a caller, in one statement: returns a receipt, or a Failure. */
import { now } from '../../platform/clock.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { pointRead } from '../../platform/db/point-read.ts';
import { Failure, forbidden, notFound, unauthenticated } from '../../platform/failure.ts';
import type { Actor, Caller } from '../actor.ts';
import { notificationLevels } from '../namespaces/notification-levels.ts';
import {
  type GroupRow,
  projectColumns,
  projectFullPath,
  projectIsArchived,
  projectTables,
  type ReachedProjectRow,
} from '../namespaces/rows.ts';
import {
  type Decision,
  decide,
  type GroupAbility,
  groupPolicy,
  isForAnonymous,
  isVisible,
  type ProjectAbility,
  projectPolicy,
  type Rule,
  type Standing,
} from '../policy/policy.ts';
import { DEVELOPER, OWNER, type Role } from '../policy/roles.ts';
import { directProjectLevel, namespaceLevel, sharedProjectLevel } from './memberships.ts';

declare const receipt: unique symbol;

/** A project that the caller may use for the ability. Only this module creates one. */
export type AuthorizedProject = {
  readonly [receipt]: 'project';
  readonly id: number;
  readonly row: ReachedProjectRow;
  readonly fullPath: string;
  /** The caller's role; an administrator's is Owner. */
  readonly role: Role;
  may(ability: ProjectAbility): boolean;
};

/** A group that the caller may use for the ability. */
export type AuthorizedGroup = {
  readonly [receipt]: 'group';
  readonly id: number;
  readonly row: GroupRow;
  readonly role: Role;
  may(ability: GroupAbility): boolean;
};

/** The instance, for administrators. */
export type AuthorizedInstance = { readonly [receipt]: 'instance' };

const NOBODY = 0;
const today = (): string => now().toISOString().slice(0, 10);

/** `:id` of the API: a number, or a full path. */
export type ObjectReference = string | number;

const asId = (reference: ObjectReference): number | undefined => {
  if (typeof reference === 'number') return reference;
  return /^\d{1,15}$/.test(reference) ? Number(reference) : undefined;
};

/** Projects that match a condition, with the caller's levels on them. */
const projectsWhere = (caller: string, date: string, condition: string) => `
  select ${projectColumns}, ${directProjectLevel(caller, date)} as level_project,
    greatest(${namespaceLevel(caller, date, 'contents')}, ${sharedProjectLevel(caller, date)}) as level_group,
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

// From the caller's memberships, which are few, not from the group's contents, which may be many.
const reachesInside = (caller: string, date: string) => `exists (
  select from members m left join projects p on p.id = m.project_id
  join namespaces d on d.id = coalesce(m.namespace_id, p.namespace_id)
  where m.user_id = ${caller} and n.id = any(d.ancestor_ids) and (m.expires_at is null or m.expires_at > ${date}))`;
const groupsWhere = (caller: string, date: string, condition: string) => `
  select n.*, ${namespaceLevel(caller, date, 'group')} as level, ${reachesInside(caller, date)} as reaches_inside,
    exists (select from namespaces a where a.id = any(n.ancestor_ids) and a.archived) as ancestor_archived
  from namespaces n where n.kind = 'group' and not n.deleting and ${condition}`;
const groupById = pointRead<GroupFound>(
  ['bigint', 'date', 'bigint'],
  groupsWhere('k.v1', 'k.v2', 'n.id = k.v3'),
);
const groupByPath = pointRead<GroupFound>(
  ['bigint', 'date', 'text'],
  groupsWhere('k.v1', 'k.v2', 'lower(n.full_path) collate "C" = k.v3'),
);
const groupsByPaths = groupsWhere('$1', '$2', 'lower(n.full_path) collate "C" = any($3::text[])');

const prepared = { prepare: true } as const;

async function selectProject(
  sql: Sql,
  caller: Caller,
  reference: ObjectReference,
): Promise<ReachedProjectRow | undefined> {
  const id = asId(reference);
  const user = caller?.id ?? NOBODY;
  if (id !== undefined) {
    return projectById(sql, [user, today(), id]);
  }
  const path = String(reference).toLowerCase();
  const slash = path.lastIndexOf('/');
  if (slash < 1) return undefined;
  return projectByPath(sql, [user, today(), path.slice(0, slash), path.slice(slash + 1)]);
}

function standingOf(caller: Caller, row: { visibility: number }, role: Role, archived: boolean): Standing {
  return {
    signedIn: caller !== undefined,
    admin: caller?.admin ?? false,
    auditor: caller?.auditor ?? false,
    external: caller?.external ?? false,
    role,
    visibility: row.visibility,
    archived,
  };
}

/** Missing features are on; only update and create write the column, from values of this type. */
const featuresOf = (row: { settings: unknown }) => row.settings as NonNullable<Standing['features']>;

function projectReceipt(
  caller: Caller,
  row: ReachedProjectRow,
): { project: AuthorizedProject; standing: Standing } {
  // The members table's check constraint admits roles only.
  const role = (caller?.admin ? OWNER : Math.max(row.level_project, row.level_group)) as Role;
  const standing = {
    ...standingOf(caller, row, role, projectIsArchived(row)),
    features: featuresOf(row),
  };
  const project = {
    id: row.id,
    row,
    fullPath: projectFullPath(row),
    role,
    may: (ability: ProjectAbility) => decide(projectPolicy[ability], standing) === 'allowed',
  } as AuthorizedProject;
  return { project, standing };
}

/** Throws the failure of a refusal. */
function refuse(decision: Decision, resource: string, reason?: string): void {
  if (decision === 'sign_in') throw unauthenticated();
  if (decision === 'invisible') throw notFound(resource);
  if (decision === 'refused') throw forbidden(reason);
}

/** Thrown for a project that the caller sees, under its old path: 301 for reads, 405 for other methods (facts §10). */
export class Moved extends Error {
  readonly projectId: number;
  readonly fullPath: string;
  constructor({ id, fullPath }: Pick<AuthorizedProject, 'id' | 'fullPath'>) {
    super('moved');
    this.projectId = id;
    this.fullPath = fullPath;
  }
}

async function findMoved(sql: Sql, caller: Caller, reference: ObjectReference): Promise<void> {
  if (asId(reference) !== undefined) return;
  const path = String(reference).toLowerCase();
  const [redirect] = await sql<{ project_id: number }[]>`
    select project_id from project_redirects where path = ${path}`;
  if (!redirect) return;
  const found = await selectProject(sql, caller, redirect.project_id);
  if (!found) return;
  const { project, standing } = projectReceipt(caller, found);
  if (isVisible(standing)) throw new Moved(project);
}

/**
 * The project, when the caller has the ability on it; 404 unless visible, 403 (with the reason, if given)
 * when refused, Moved under an old path.
 */
export async function authorizeProject(
  sql: Sql,
  caller: Caller,
  ability: ProjectAbility,
  reference: ObjectReference,
  reason?: string,
): Promise<AuthorizedProject> {
  const rule: Rule = projectPolicy[ability];
  if (!caller && !isForAnonymous(rule)) throw unauthenticated();
  const found = await selectProject(sql, caller, reference);
  if (!found) {
    await findMoved(sql, caller, reference);
    throw notFound('Project');
  }
  const { project, standing } = projectReceipt(caller, found);
  refuse(decide(rule, standing), 'Project', reason);
  return project;
}

const projectsByPaths = projectsWhere(
  '$1',
  '$2',
  '(lower(n.full_path) collate "C", lower(p.path) collate "C") in (select * from unnest($3::text[], $4::text[]))',
);

/**
 * The projects of these full paths on which the caller has the ability, by the path in lower case. One
 * statement for all, for texts with many. Missing, invisible and refused ones are left out.
 */
export async function selectProjects(
  sql: Sql,
  caller: Caller,
  ability: ProjectAbility,
  paths: readonly string[],
): Promise<Map<string, AuthorizedProject>> {
  const names = paths.map((path) => path.toLowerCase()).filter((path) => path.includes('/'));
  if (names.length === 0) return new Map();
  const spaces = names.map((path) => path.slice(0, path.lastIndexOf('/')));
  const ends = names.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const parameters = [caller?.id ?? NOBODY, today(), spaces, ends];
  const rows = await sql.unsafe<ReachedProjectRow[]>(projectsByPaths, parameters, prepared);
  const projects = rows.map((row) => projectReceipt(caller, row).project);
  return new Map(
    projects.filter((each) => each.may(ability)).map((each) => [each.fullPath.toLowerCase(), each]),
  );
}

/** The scope of a deploy token: a project, or all projects below a group. */
export type DeployTokenHome = { project_id: number | null; namespace_id: number | null };

const projectOfDeployToken = `
  select ${projectColumns}, ${DEVELOPER} as level_project, 0 as level_group from ${projectTables}
  where not p.deleting and lower(n.full_path) collate "C" = $1 and lower(p.path) collate "C" = $2
    and (p.id = $3 or $4 = any(n.ancestor_ids))`;

/** A project in the deploy token's scope, with the rights of a developer; 404 for any other. */
export async function authorizeDeployToken(
  sql: Sql,
  home: DeployTokenHome,
  ability: ProjectAbility,
  fullPath: string,
): Promise<AuthorizedProject> {
  const path = fullPath.toLowerCase();
  const slash = path.lastIndexOf('/');
  const parameters = [
    path.slice(0, Math.max(0, slash)),
    path.slice(slash + 1),
    home.project_id,
    home.namespace_id,
  ];
  const [row] = await sql.unsafe<ReachedProjectRow[]>(projectOfDeployToken, parameters, prepared);
  if (!row) throw notFound('Project');
  const { project, standing } = projectReceipt(undefined, row);
  refuse(decide(projectPolicy[ability], { ...standing, signedIn: true, external: true }), 'Project');
  return project;
}

const projectOfProgram = `
  select ${projectColumns}, ${DEVELOPER} as level_project, 0 as level_group from ${projectTables}
  where not p.deleting and p.id = $1`;

/** The project for the program's own work, with the rights of a developer; undefined when it is gone. */
export async function reachProject(sql: Sql, id: number): Promise<AuthorizedProject | undefined> {
  const [row] = await sql.unsafe<ReachedProjectRow[]>(projectOfProgram, [id], prepared);
  if (!row) return undefined;
  const { project, standing } = projectReceipt(undefined, row);
  const known = { ...standing, signedIn: true, external: true };
  return { ...project, may: (ability) => decide(projectPolicy[ability], known) === 'allowed' };
}

type GroupFound = GroupRow & { level: number; reaches_inside: boolean; ancestor_archived: boolean };

/** The group, when the caller has the ability on it; 404 unless visible, 403 when refused. */
export async function authorizeGroup(
  sql: Sql,
  caller: Caller,
  ability: GroupAbility,
  reference: ObjectReference,
): Promise<AuthorizedGroup> {
  const rule: Rule = groupPolicy[ability];
  if (!caller && !isForAnonymous(rule)) throw unauthenticated();
  const id = asId(reference);
  const [user, date] = [caller?.id ?? NOBODY, today()];
  const found = await (id === undefined
    ? groupByPath(sql, [user, date, String(reference).toLowerCase()])
    : groupById(sql, [user, date, id]));
  if (!found) throw notFound('Group');
  const { group, standing } = groupReceipt(caller, found);
  refuse(decide(rule, standing), 'Group');
  return group;
}

function groupReceipt(caller: Caller, found: GroupFound): { group: AuthorizedGroup; standing: Standing } {
  // As above: the members table admits roles only.
  const role = (caller?.admin ? OWNER : found.level) as Role;
  const standing = {
    ...standingOf(caller, found, role, found.ancestor_archived),
    reachesInside: found.reaches_inside,
    features: featuresOf(found),
  };
  const may = (ability: GroupAbility) => decide(groupPolicy[ability], standing) === 'allowed';
  return { group: { id: found.id, row: found as GroupRow, role, may } as AuthorizedGroup, standing };
}

/** The groups of these full paths on which the caller has the ability, as selectProjects(). */
export async function selectGroups(
  sql: Sql,
  caller: Caller,
  ability: GroupAbility,
  paths: readonly string[],
): Promise<Map<string, AuthorizedGroup>> {
  if (paths.length === 0) return new Map();
  const parameters = [caller?.id ?? NOBODY, today(), paths.map((path) => path.toLowerCase())];
  const rows = await sql.unsafe<GroupFound[]>(groupsByPaths, parameters, prepared);
  const groups = rows.map((row) => groupReceipt(caller, row).group).filter((each) => each.may(ability));
  return new Map(groups.map((each) => [each.row.full_path.toLowerCase(), each]));
}

/** The receipt of an administrator; 401 without credentials, 403 for other users. */
export function authorizeInstance(caller: Caller): { instance: AuthorizedInstance; actor: Actor } {
  if (!caller) throw unauthenticated();
  if (!caller.admin) throw forbidden();
  return { instance: {} as AuthorizedInstance, actor: caller };
}

/** The 405 for writes under an old path. */
export const movedRefusal = (): Failure =>
  new Failure('method_not_allowed', 'Non GET methods are not allowed for moved projects');
