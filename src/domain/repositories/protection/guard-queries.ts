/** The rules for a project's branches and tags, as pushes are held against them. */

import { type RawBuilder, sql } from 'kysely';
import type { BranchProtection } from '../../../kernel/policy/branch-protection.ts';
import { ownLimit } from '../../../kernel/repository-size/actions.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { pushRuleJson } from '../push-rules/queries.ts';
import type { PushRule } from '../push-rules/rules.ts';
import type { Allowed, ProjectRules } from './protection-rules.ts';

/** The protection that a project's first branch gets: its group's own, else the instance's. */
export async function firstProtection(
  db: Db,
  projectId: number,
  settings: ProtectionSettings,
): Promise<BranchProtection> {
  const { rows } = await sql<{ own: BranchProtection | null }>`
    select n.settings -> 'default_branch_protection_defaults' as own
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`.execute(db);
  return rows[0]?.own ?? settings.default_branch_protection_defaults;
}

type Entry = Allowed & { action: string };

/**
 * A rule; or the project, with whether it is empty, whether paths are locked, its push rule, its group's own protection of a first
 * branch, and the limit of its size.
 */
export type RuleRow = {
  kind: 'branch' | 'tag' | 'project';
  name: string;
  flag: boolean;
  asks_owners: boolean;
  locks: boolean;
  push_rule: PushRule | null;
  entries: Entry[];
} & {
  own: BranchProtection | null;
  size_limit: number | null;
};

/** The statement that reads all rules of a project's branches and tags; a part of others, too. */
export function ruleRows(projectId: number): RawBuilder<RuleRow> {
  const entries = sql`coalesce(jsonb_agg(jsonb_build_object('action', a.action, 'access_level', a.access_level,
    'user_id', a.user_id, 'group_id', a.group_id, 'deploy_key_id', a.deploy_key_id)) filter (where a.id is not null), '[]')`;
  return sql<RuleRow>`
    select 'project' as kind, '' as name, p.empty_repo as flag, false as asks_owners,
      exists (select from lfs_locks l where l.project_id = p.id) as locks,
      ${pushRuleJson(sql`p.id`)} as push_rule, null::jsonb as entries,
      n.settings -> 'default_branch_protection_defaults' as own, ${ownLimit(sql`p.id`)} as size_limit
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}
    union all
    select 'branch', b.name, b.allow_force_push, b.code_owner_approval_required, false, null, ${entries}, null, null
    from protected_branches b left join protected_ref_access a on a.protected_branch_id = b.id
    where b.project_id = ${projectId} group by b.id
    union all
    select 'tag', t.name, false, false, false, null, ${entries}, null, null
    from protected_tags t left join protected_ref_access a on a.protected_tag_id = t.id
    where t.project_id = ${projectId} group by t.id`;
}

/** The rules that these rows are; 404 without the project. */
export function rulesOf(rows: readonly RuleRow[], settings: ProtectionSettings): ProjectRules {
  const project = rows.find(({ kind }) => kind === 'project');
  if (!project) throw notFound('Project');
  const of = (row: RuleRow, action: string) => row.entries.filter((entry) => entry.action === action);
  return {
    branches: rows
      .filter(({ kind }) => kind === 'branch')
      .map((row) => ({
        name: row.name,
        allow_force_push: row.flag,
        code_owner_approval_required: row.asks_owners,
        push: of(row, 'push'),
        merge: of(row, 'merge'),
      })),
    tags: rows
      .filter(({ kind }) => kind === 'tag')
      .map((row) => ({ name: row.name, create: of(row, 'create') })),
    hasLocks: project.locks,
    pushRule: project.push_rule ?? undefined,
    sizeLimit: project.size_limit,
    first: project.flag ? (project.own ?? settings.default_branch_protection_defaults) : undefined,
  };
}

/** All rules of a project's branches and tags; 404 without the project. */
export const selectRules = async (
  db: Db,
  projectId: number,
  settings: ProtectionSettings,
): Promise<ProjectRules> => rulesOf((await ruleRows(projectId).execute(db)).rows, settings);

/** Groups that the rules name and that have the user as a member; few rules name any. */
export async function memberGroups(
  db: Db,
  rules: ProjectRules,
  userId: number | undefined,
): Promise<Set<number>> {
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

export type ProtectionSettings = Pick<ApplicationSettings, 'default_branch_protection_defaults'>;
