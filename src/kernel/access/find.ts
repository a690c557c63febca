/** Finds a project or group and decides for a caller, in one statement: returns a receipt, or a Failure. */
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { Failure, forbidden, notFound, unauthenticated } from '../../platform/failure.ts';
import { type Actor, type Caller, jobCredentialOf } from '../actor.ts';
import {
  type GroupRow,
  projectFullPath,
  projectIsArchived,
  type ReachedProjectRow,
} from '../namespaces/rows.ts';
import { openedInGroup, openedInProject } from '../policy/custom-abilities.ts';
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
import { NO_ACCESS, OWNER, type Role } from '../policy/roles.ts';
import {
  asId,
  type DeployTokenHome,
  type FoundGroup,
  findFirstProject,
  findGroup,
  findGroupAround,
  findGroupBelow,
  findGroupForEach,
  findGroups,
  findProject,
  findProjectForEach,
  findProjectOfDeployToken,
  findProjectOfProgram,
  findProjects,
  findRedirected,
  hasPublicPackages,
  isLetIn,
  mayRegistriesBePublic,
  type ObjectReference,
} from './find-queries.ts';

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
  /** Whether it or a group above is scheduled for deletion: nothing may be added to such a tree. */
  readonly scheduled: boolean;
  may(ability: GroupAbility): boolean;
};

/** The instance, for administrators. */
export type AuthorizedInstance = { readonly [receipt]: 'instance' };

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

const hasPublicRegistry = (row: { settings: unknown }): boolean =>
  featuresOf(row).package_registry_access_level === 'public';

type ProjectReceipt = { project: AuthorizedProject; standing: Standing };

const isOtherJob = (caller: Caller, { id }: { id: number }): boolean =>
  caller?.credential.via === 'job' && caller.credential.projectId !== id;

/**
 * A job has its user's role in its own project, and in others that let it in; of the rest it has what those have who are no
 * members.
 */
function projectReceipt(
  caller: Caller,
  row: ReachedProjectRow,
  { letIn = !isOtherJob(caller, row), opensRegistry = false } = {},
): ProjectReceipt {
  // The members table's check constraint admits roles only.
  const ofMember = Math.max(row.level_project, row.level_group) as Role;
  const role = caller?.admin ? OWNER : letIn ? ofMember : NO_ACCESS;
  const standing = {
    ...standingOf(caller, row, role, projectIsArchived(row)),
    ...(row.custom_abilities && letIn && { opened: openedInProject(row.custom_abilities) }),
    features:
      hasPublicRegistry(row) && !opensRegistry
        ? { ...featuresOf(row), package_registry_access_level: 'enabled' as const }
        : featuresOf(row),
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

/**
 * The same, where another project may have let the caller's job in, and where its packages may be open to everybody: lists of
 * many do not ask.
 */
async function projectReceiptOf(sql: Sql, caller: Caller, row: ReachedProjectRow): Promise<ProjectReceipt> {
  const job = jobCredentialOf(caller);
  return projectReceipt(caller, row, {
    ...(job && isOtherJob(caller, row) && { letIn: await isLetIn(sql, job.projectId, row) }),
    ...(hasPublicRegistry(row) && { opensRegistry: await mayRegistriesBePublic(sql) }),
  });
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
  const id = await findRedirected(sql, String(reference));
  const found = id === undefined ? undefined : await findProject(sql, caller, id);
  if (!found) return;
  const { project, standing } = await projectReceiptOf(sql, caller, found);
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
  const found = await findProject(sql, caller, reference);
  if (!found) {
    await findMoved(sql, caller, reference);
    throw notFound('Project');
  }
  const { project, standing } = await projectReceiptOf(sql, caller, found);
  refuse(decide(rule, standing), 'Project', reason);
  return project;
}

/** authorizeProject() that follows an old path: for addresses and files that somebody wrote down, where a redirect is no answer. */
export const followProject = (
  sql: Sql,
  caller: Caller,
  ability: ProjectAbility,
  path: string,
): Promise<AuthorizedProject> =>
  authorizeProject(sql, caller, ability, path).catch((error: unknown) => {
    if (error instanceof Moved) return authorizeProject(sql, caller, ability, error.projectId);
    throw error;
  });

/** The same of a full path, not an id; undefined for a project that is missing, invisible or refused. */
export async function selectProjectAt(
  sql: Sql,
  caller: Caller,
  ability: ProjectAbility,
  fullPath: string,
): Promise<AuthorizedProject | undefined> {
  if (!fullPath.includes('/')) return undefined;
  try {
    return await followProject(sql, caller, ability, fullPath);
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}

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
  const rows = await findProjects(sql, caller, paths);
  const projects = rows.map((row) => projectReceipt(caller, row).project);
  return new Map(
    projects.filter((each) => each.may(ability)).map((each) => [each.fullPath.toLowerCase(), each]),
  );
}

/** The project of an id for each caller, undefined where they may not read it; by one statement. */
export async function selectProjectForEach(
  sql: Sql,
  callers: readonly Actor[],
  id: number,
): Promise<(AuthorizedProject | undefined)[]> {
  const rows = callers.length === 0 ? [] : await findProjectForEach(sql, callers, id);
  return callers.map((caller, place) => {
    const row = rows[place];
    const project = row && projectReceipt(caller, row).project;
    return project?.may('read_project') ? project : undefined;
  });
}

/** The same for a group. */
export async function selectGroupForEach(
  sql: Sql,
  callers: readonly Actor[],
  id: number,
): Promise<(AuthorizedGroup | undefined)[]> {
  const rows = callers.length === 0 ? [] : await findGroupForEach(sql, callers, id);
  return callers.map((caller, place) => {
    const row = rows[place];
    const group = row && groupReceipt(caller, row).group;
    return group?.may('read_group') ? group : undefined;
  });
}

/** The oldest project right in the group that the caller may read, if there is one. */
export async function selectFirstProject(
  db: Db,
  caller: Caller,
  groupId: number,
): Promise<AuthorizedProject | undefined> {
  const row = await findFirstProject(db, caller, groupId);
  const project = row && projectReceipt(caller, row).project;
  return project?.may('read_project') ? project : undefined;
}

/** A project in the deploy token's scope, with the rights of a developer; 404 for any other. */
export async function authorizeDeployToken(
  sql: Sql,
  home: DeployTokenHome,
  ability: ProjectAbility,
  reference: ObjectReference,
): Promise<AuthorizedProject> {
  const row = await findProjectOfDeployToken(sql, home, reference);
  if (!row) throw notFound('Project');
  const { project, standing } = projectReceipt(undefined, row);
  refuse(decide(projectPolicy[ability], { ...standing, signedIn: true, external: true }), 'Project');
  return project;
}

/** A group in the deploy token's scope; 404 for any other. */
export async function authorizeGroupOfDeployToken(
  sql: Sql,
  { namespace_id }: DeployTokenHome,
  reference: ObjectReference,
): Promise<{ id: number }> {
  const group = namespace_id === null ? undefined : await findGroupBelow(sql, namespace_id, reference);
  if (!group) throw notFound('Group');
  return group;
}

/** A group that the caller may read; a job's is one around its project, whatever its user is there. */
export async function authorizeGroupOrJobs(
  sql: Sql,
  caller: Caller,
  reference: ObjectReference,
): Promise<{ id: number }> {
  const job = jobCredentialOf(caller);
  const around = job && (await findGroupAround(sql, job.projectId, reference));
  return around ?? authorizeGroup(sql, caller, 'read_group', reference);
}

/** A group below which there are packages that everybody reads, whether the group is visible or not; 404 for another. */
export async function authorizeGroupOfPublicPackages(
  sql: Sql,
  reference: ObjectReference,
): Promise<{ id: number }> {
  const group = await findGroup(sql, undefined, reference);
  if (!group || !(await hasPublicPackages(sql, group.id))) throw notFound('Group');
  return { id: group.id };
}

/** The project for the program's own work, with the rights of a developer; undefined when it is gone. */
export async function reachProject(sql: Sql, id: number): Promise<AuthorizedProject | undefined> {
  const row = await findProjectOfProgram(sql, id);
  if (!row) return undefined;
  const { project, standing } = projectReceipt(undefined, row);
  const known = { ...standing, signedIn: true, external: true };
  return { ...project, may: (ability) => decide(projectPolicy[ability], known) === 'allowed' };
}

/** The group, when the caller has the ability on it; 404 unless visible, 403 when refused. */
export async function authorizeGroup(
  sql: Sql,
  caller: Caller,
  ability: GroupAbility,
  reference: ObjectReference,
): Promise<AuthorizedGroup> {
  const rule: Rule = groupPolicy[ability];
  if (!caller && !isForAnonymous(rule)) throw unauthenticated();
  const found = await findGroup(sql, caller, reference);
  if (!found) throw notFound('Group');
  const { group, standing } = groupReceipt(caller, found);
  refuse(decide(rule, standing), 'Group');
  return group;
}

function groupReceipt(caller: Caller, found: FoundGroup): { group: AuthorizedGroup; standing: Standing } {
  // As above: the members table admits roles only. A job is let into projects, not into groups.
  const isJob = jobCredentialOf(caller) !== undefined;
  const role = (caller?.admin ? OWNER : isJob ? NO_ACCESS : found.level) as Role;
  const standing = {
    ...standingOf(caller, found, role, found.ancestor_archived),
    ...(found.custom_abilities && !isJob && { opened: openedInGroup(found.custom_abilities) }),
    reachesInside: found.reaches_inside && !isJob,
    features: featuresOf(found),
  };
  const may = (ability: GroupAbility) => decide(groupPolicy[ability], standing) === 'allowed';
  const group = { id: found.id, row: found as GroupRow, role, scheduled: found.ancestor_scheduled, may };
  return { group: group as AuthorizedGroup, standing };
}

/** The groups of these full paths on which the caller has the ability, as selectProjects(). */
export async function selectGroups(
  sql: Sql,
  caller: Caller,
  ability: GroupAbility,
  paths: readonly string[],
): Promise<Map<string, AuthorizedGroup>> {
  const rows = await findGroups(sql, caller, paths);
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
