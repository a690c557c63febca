/** What approvals of merge requests depend on, as selects of one statement, beside others (approvals/loaded.ts reads them). */
import { type RawBuilder, sql } from 'kysely';
import { projectLevel } from '../../../kernel/access/membership-queries.ts';
import { DEVELOPER, MINIMAL } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import { taggedRows } from '../../../platform/db/tagged-rows.ts';
import {
  isOwner,
  levelOfUser,
  selectCandidates,
  selectNamedGroups,
  selectNamedUsers,
} from '../../repositories/index.ts';
import { settingNames } from '../approval-settings/rules.ts';
import type { ApprovalRows } from './loaded.ts';
import { approverMayChange } from './standing-queries.ts';

/** The first so many approvers of a rule that a record of one merge request shows. */
const MAX_SHOWN_APPROVERS = 500;

/** The date, as statements of approvals have it. */
const TODAY = '(select today from approval_day)';

const isActive = sql`exists (select from users u where u.id = k.user_id and u.state = 'active' and u.deletion is null)`;

/**
 * The merge requests with these ids: `approvable`; the rules that may hold for them: `approvable_rules`; those who wrote,
 * committed or approved them, and those whom `readers` selects: `near`; the users whom each rule
 * names, as far as they are members of the project, which each is asked once, since rules name the same ones: `named_members`;
 * and the approvers of each rule: `rule_approvers`.
 * Those are the near ones, and of all others the first, which is all that deciding whether a rule is met takes; or as many
 * as records show. The ids are looked at once: where tables are small, PostgreSQL would take what else is found by them for
 * less than it is, and plan all this for each request, which takes ten times as long as to run it.
 */
export function approvalCtes(
  ids: RawBuilder<unknown>,
  { readers, isShown = false }: { readers?: RawBuilder<unknown> | undefined; isShown?: boolean } = {},
): RawBuilder<unknown> {
  const day = now().toISOString().slice(0, 10);
  const isCurrent = sql`(m.expires_at is null or m.expires_at > ${sql.raw(TODAY)}) and m.access_level > ${sql.lit(MINIMAL)}`;
  const groupMembers = sql`approval_rule_groups g join members m on m.namespace_id = g.group_id`;
  const isInGroup = sql`exists (select from ${groupMembers} where g.rule_id = f.id and m.user_id = k.user_id and ${isCurrent})`;
  const isApprover = sql`case f.rule_type when 'code_owner' then ${isOwner(TODAY)}
    else coalesce(k.user_id = any(w.user_ids), false) or ${isInGroup} end`;
  const others = sql`
    from (select unnest(w.user_ids) as user_id
      union all select m.user_id from ${groupMembers} where g.rule_id = f.id and ${isCurrent}
      union all select k.user_id from (${selectCandidates(TODAY)}) k
        where f.rule_type = 'code_owner' and ${levelOfUser(TODAY)} >= ${sql.lit(DEVELOPER)}) k
    where not exists (select from near o where o.of_id = f.of_id and o.user_id = k.user_id) and ${isActive}`;
  return sql`
    approval_day as materialized (select ${day}::date as today),
    approvable as materialized (
      select i.id, i.project_id, i.author_id, i.target_branch, i.approvals_before_merge, n.ancestor_ids from merge_requests i
      join projects p on p.id = i.project_id join namespaces n on n.id = p.namespace_id where i.id = any(${ids})),
    approvable_rules as materialized (
      select a.id as of_id, a.project_id as of_project_id, a.ancestor_ids as of_ancestor_ids, r.* from approvable a, lateral (
        select * from approval_rules where project_id = a.project_id
        union all select * from approval_rules where namespace_id = any(a.ancestor_ids)
        union all select * from approval_rules where merge_request_id = a.id) r),
    approval_committers as materialized (
      select distinct c.merge_request_id as of_id, e.user_id from merge_request_committers c
      join emails e on lower(e.email) collate "C" = c.email and e.confirmed_at is not null
      where c.merge_request_id in (select id from approvable)),
    near as materialized (
      select merge_request_id as of_id, user_id from merge_request_approvals
        where merge_request_id in (select id from approvable)
      union select of_id, user_id from approval_committers
      union select id, author_id from approvable
      ${readers ? sql`union select a.id, r.user_id from approvable a, (${readers}) r` : sql``}),
    named_members as materialized (
      with named as materialized (
        select f.project_id, q.rule_id, q.user_id from (select distinct of_project_id as project_id, id from approvable_rules) f
        join approval_rule_users q on q.rule_id = f.id),
      present as materialized (
        select k.project_id, k.user_id from (select distinct project_id, user_id from named) k
        join projects p on p.id = k.project_id join namespaces n on n.id = p.namespace_id
        where ${sql.raw(projectLevel('k.user_id', TODAY))} > ${sql.lit(MINIMAL)})
      select project_id, rule_id, array_agg(user_id) as user_ids from named join present using (project_id, user_id)
      group by project_id, rule_id),
    rule_approvers as materialized (
      select f.of_id, f.id as rule_id,
        array(select k.user_id from near k where k.of_id = f.of_id and ${isActive} and ${isApprover})
        || ${isShown ? sql`array(select distinct k.user_id ${others} order by 1 limit ${sql.lit(MAX_SHOWN_APPROVERS)})` : sql`array(select k.user_id ${others} limit 1)`}
        as user_ids
      from approvable_rules f left join named_members w on w.project_id = f.of_project_id and w.rule_id = f.id
      where f.rule_type <> 'any_approver' and f.approvals_required > ${sql.lit(isShown ? -1 : 0)})`;
}

const settingsOf = (alias: string): RawBuilder<unknown> =>
  sql`case when ${sql.ref(`${alias}.id`)} is not null then jsonb_build_object(${sql.join(
    settingNames.flatMap((name) => [sql.lit(name), sql.ref(`${alias}.${name}`)]),
  )}) end`;

/** The selects, behind the `with` of approvalCtes(). */
export const approvalSelects = () =>
  [
    taggedRows(
      'approvals' satisfies keyof ApprovalRows,
      sql`select a.merge_request_id, a.user_id, a.created_at, a.id,
          ${approverMayChange('(select today from approval_day)')} as may_change from merge_request_approvals a
        where a.merge_request_id in (select id from approvable)`,
    ),
    taggedRows(
      'committers' satisfies keyof ApprovalRows,
      sql`select of_id as merge_request_id, user_id from approval_committers`,
    ),
    taggedRows(
      'approval_settings' satisfies keyof ApprovalRows,
      sql`select p.id, ${settingsOf('o')} as own, ${settingsOf('t')} as root from projects p
        join namespaces n on n.id = p.namespace_id left join approval_settings o on o.project_id = p.id
        left join approval_settings t on t.namespace_id = n.ancestor_ids[1]
        where p.id in (select project_id from approvable)`,
    ),
    taggedRows(
      'approval_rules' satisfies keyof ApprovalRows,
      sql`select f.of_id as of_merge_request_id, f.id, f.name, f.rule_type, f.report_type, f.section, f.approvals_required,
          f.applies_to_all_protected_branches, f.namespace_id is not null as of_group,
          f.merge_request_id is not null as of_merge_request, f.source_rule_id, coalesce(w.user_ids, '{}') as approver_ids,
          array(select b.protected_branch_id from approval_rule_branches b where b.rule_id = f.id) as branch_ids,
          array(select q.user_id from approval_rule_users q where q.rule_id = f.id
            union select o.user_id from (${selectNamedUsers()}) o order by 1) as user_ids,
          array(select g.group_id from approval_rule_groups g where g.rule_id = f.id
            union select o.group_id from (${selectNamedGroups(TODAY)}) o order by 1) as group_ids
        from approvable_rules f left join rule_approvers w on w.of_id = f.of_id and w.rule_id = f.id`,
    ),
    taggedRows(
      'protections' satisfies keyof ApprovalRows,
      sql`select b.id, b.project_id, b.name, b.code_owner_approval_required from protected_branches b
        where b.project_id in (select of_project_id from approvable_rules)`,
    ),
  ] as const;
