/** The rules for a project's branches and tags, as pushes are held against them. */

import { sql } from 'kysely';
import type { BranchProtection } from '../../../kernel/policy/branch-protection.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
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

/** A project's rules, and the groups in them that have the user as a member. */
export type RefRules = { rules: ProjectRules; groups: ReadonlySet<number> };

/** All rules of a project's branches and tags, by one statement; 404 without the project. */
export async function selectRules(
  db: Db,
  projectId: number,
  userId: number | undefined,
  settings: ProtectionSettings,
): Promise<RefRules> {
  const today = now().toISOString().slice(0, 10);
  const entries = sql`coalesce(jsonb_agg(jsonb_build_object('action', a.action, 'access_level', a.access_level,
    'user_id', a.user_id, 'group_id', a.group_id, 'deploy_key_id', a.deploy_key_id,
    'is_member', a.group_id is not null and exists (
      select from namespaces g join members m on m.namespace_id = any(g.ancestor_ids)
      where g.id = a.group_id and m.user_id = ${userId ?? null}
        and (m.expires_at is null or m.expires_at > ${today}::date)))) filter (where a.id is not null), '[]')`;
  type Entry = Allowed & { action: string; is_member: boolean };
  type Rule = { tag: boolean; name: string; allow_force_push: boolean; entries: Entry[] };
  const { rows } = await sql<{ empty: boolean; own: BranchProtection | null; rules: Rule[] }>`
    select p.empty_repo as empty, n.settings -> 'default_branch_protection_defaults' as own,
      (select coalesce(jsonb_agg(r), '[]') from (
        select false as tag, b.name, b.allow_force_push, ${entries} as entries
        from protected_branches b left join protected_ref_access a on a.protected_branch_id = b.id
        where b.project_id = p.id group by b.id
        union all
        select true, t.name, false, ${entries}
        from protected_tags t left join protected_ref_access a on a.protected_tag_id = t.id
        where t.project_id = p.id group by t.id) r) as rules
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`.execute(db);
  const [row] = rows;
  if (!row) throw notFound('Project');
  const of = (rule: Rule, action: string) => rule.entries.filter((entry) => entry.action === action);
  const first = row.own ?? settings.default_branch_protection_defaults;
  return {
    rules: {
      branches: row.rules
        .filter((rule) => !rule.tag)
        .map((rule) => ({
          name: rule.name,
          allow_force_push: rule.allow_force_push,
          push: of(rule, 'push'),
          merge: of(rule, 'merge'),
        })),
      tags: row.rules
        .filter((rule) => rule.tag)
        .map((rule) => ({ name: rule.name, create: of(rule, 'create') })),
      first: row.empty ? first : undefined,
    },
    groups: new Set(
      row.rules.flatMap((rule) =>
        rule.entries.flatMap(({ group_id, is_member }) => (group_id !== null && is_member ? group_id : [])),
      ),
    ),
  };
}

export type ProtectionSettings = Pick<ApplicationSettings, 'default_branch_protection_defaults'>;
