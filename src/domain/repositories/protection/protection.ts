/** Reads a project's rules of protected branches and tags in one statement, and protects its first branch. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { BranchProtection } from '../../../kernel/policy/branch-protection.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import {
  type Asker,
  developersMay,
  isProtectedBranch,
  isProtectedTag,
  mayForce,
  mayMerge,
  mayPush,
  type ProjectRules,
  refusalOf,
} from './protection-rules.ts';

/** A caller's permissions on the refs of one project. */
export type RefGuard = {
  readonly rules: ProjectRules;
  /** Why the update is refused; undefined when it is not. */
  refusal(update: RefUpdate): string | undefined;
  mayPush(branch: string): boolean;
  mayMerge(branch: string): boolean;
  mayForce(branch: string): boolean;
  isProtected(branch: string): boolean;
  isProtectedTag(tag: string): boolean;
  developersMay(branch: string, action: 'push' | 'merge'): boolean;
};

type ProtectionSettings = Pick<ApplicationSettings, 'default_branch_protection_defaults'>;

/** The protection that a project's first branch gets: its group's own, else the instance's. */
async function firstProtection(
  db: Db,
  projectId: number,
  settings: ProtectionSettings,
): Promise<BranchProtection> {
  const { rows } = await sql<{ own: BranchProtection | null }>`
    select n.settings -> 'default_branch_protection_defaults' as own
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`.execute(db);
  return rows[0]?.own ?? settings.default_branch_protection_defaults;
}

/** All rules of a project's branches and tags. */
export async function selectRules(
  db: Db,
  project: { id: number; empty: boolean },
  settings: ProtectionSettings,
): Promise<ProjectRules> {
  const entries = sql`coalesce(jsonb_agg(jsonb_build_object('action', a.action, 'access_level', a.access_level,
    'user_id', a.user_id, 'group_id', a.group_id, 'deploy_key_id', a.deploy_key_id)) filter (where a.id is not null), '[]')`;
  type Entry = { action: string } & ProjectRules['tags'][number]['create'][number];
  const { rows } = await sql<{ tag: boolean; name: string; allow_force_push: boolean; entries: Entry[] }>`
    select false as tag, b.name, b.allow_force_push, ${entries} as entries
    from protected_branches b left join protected_ref_access a on a.protected_branch_id = b.id
    where b.project_id = ${project.id} group by b.id
    union all
    select true, t.name, false, ${entries}
    from protected_tags t left join protected_ref_access a on a.protected_tag_id = t.id
    where t.project_id = ${project.id} group by t.id`.execute(db);
  const of = (row: { entries: Entry[] }, action: string) =>
    row.entries.filter((entry) => entry.action === action);
  return {
    branches: rows
      .filter((row) => !row.tag)
      .map((row) => ({
        name: row.name,
        allow_force_push: row.allow_force_push,
        push: of(row, 'push'),
        merge: of(row, 'merge'),
      })),
    tags: rows.filter((row) => row.tag).map((row) => ({ name: row.name, create: of(row, 'create') })),
    first: project.empty ? await firstProtection(db, project.id, settings) : undefined,
  };
}

/** Groups that the rules name and that have the user as a member. */
async function memberGroups(db: Db, rules: ProjectRules, userId: number | undefined): Promise<Set<number>> {
  const named = [
    ...rules.branches.flatMap((rule) => [...rule.push, ...rule.merge]),
    ...rules.tags.flatMap((rule) => rule.create),
  ].flatMap(({ group_id }) => (group_id === null ? [] : [group_id]));
  if (named.length === 0 || userId === undefined) return new Set();
  const { rows } = await sql<{ id: number }>`
    select distinct n.id from namespaces n join members m on m.namespace_id = any(n.ancestor_ids)
    where n.id = any(${named}::bigint[]) and m.user_id = ${userId}
      and (m.expires_at is null or m.expires_at > ${now().toISOString().slice(0, 10)}::date)`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/**
 * The caller's permissions on the project's refs. `actor` is undefined for a deploy token, which has a role.
 */
export async function guardRefs(
  db: Db,
  project: Pick<AuthorizedProject, 'id' | 'role' | 'row'>,
  actor: Pick<Actor, 'id' | 'admin'> | undefined,
  settings: ProtectionSettings,
): Promise<RefGuard> {
  const rules = await selectRules(db, { id: project.id, empty: project.row.empty_repo }, settings);
  const asker: Asker = {
    id: actor?.id,
    role: project.role,
    admin: actor?.admin ?? false,
    groups: await memberGroups(db, rules, actor?.id),
  };
  return {
    rules,
    refusal: (update) => refusalOf(rules, asker, update),
    mayPush: (branch) => mayPush(rules, asker, branch),
    mayMerge: (branch) => mayMerge(rules, asker, branch),
    mayForce: (branch) => mayForce(rules, branch),
    isProtected: (branch) => isProtectedBranch(rules, branch),
    isProtectedTag: (tag) => isProtectedTag(rules, tag),
    developersMay: (branch, action) => developersMay(rules, branch, action),
  };
}

/** The same with the repository leased: while there was no branch, other rules applied. */
export async function guardRefsNow(
  db: Db,
  project: Pick<AuthorizedProject, 'id' | 'role' | 'row'>,
  actor: Pick<Actor, 'id' | 'admin'> | undefined,
  settings: ProtectionSettings,
): Promise<RefGuard> {
  const { empty_repo } = await db
    .selectFrom('projects')
    .select('empty_repo')
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();
  const { id, role, row } = project;
  return guardRefs(db, { id, role, row: { ...row, empty_repo } }, actor, settings);
}

/** Protects a project's first branch as its group or the instance says; adds no rule for no protection. */
export async function protectFirstBranch(
  tx: Db,
  projectId: number,
  branch: string,
  settings: ProtectionSettings,
): Promise<void> {
  const protection = await firstProtection(tx, projectId, settings);
  const open = (entries: BranchProtection['allowed_to_push']) =>
    entries.some((each) => each.access_level === 30);
  if (open(protection.allowed_to_push) && open(protection.allowed_to_merge) && protection.allow_force_push)
    return;
  const time = now();
  const row = await tx
    .insertInto('protected_branches')
    .values({
      project_id: projectId,
      name: branch,
      allow_force_push: protection.allow_force_push,
      created_at: time,
      updated_at: time,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) return;
  const access = (action: string, entries: BranchProtection['allowed_to_push']) =>
    (entries.length === 0 ? [{ access_level: 0 }] : entries).map(({ access_level }) => ({
      protected_branch_id: row.id,
      action,
      access_level,
      created_at: time,
    }));
  await tx
    .insertInto('protected_ref_access')
    .values([...access('push', protection.allowed_to_push), ...access('merge', protection.allowed_to_merge)])
    .execute();
}
