/**
 * Filters by approvals, as conditions over `merge_requests i`. What a list asks is whether somebody approved it, and who is
 * named to: whether all is approved depends on members, branches and settings of each, which no index answers.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isSeenGroup } from '../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { DEVELOPER, OWNER } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import { type Clause, type Condition, isNone } from '../../planning/index.ts';
import { selectNamedGroups } from '../../repositories/index.ts';

/** Whether anybody approved it. */
export function approved(isApproved: boolean): Clause {
  const some = sql<SqlBool>`exists (select from merge_request_approvals a where a.merge_request_id = i.id)`;
  if (!isApproved) return { where: sql`not ${some}` };
  return {
    where: some,
    seed: (tail) => sql`select merge_request_id from merge_request_approvals group by 1 ${tail}`,
  };
}

/** Rules of code owners stand beside the project's, and are made whether or not the branch asks owners. */
const isOwn = sql`merge_request_id is not null and rule_type <> 'code_owner'`;

const hasOwn = (id: string): Condition =>
  sql`exists (select from approval_rules where merge_request_id = ${sql.ref(id)} and ${isOwn})`;

/** Listed projects below a group that has one of the rules. */
const projectsBelow = (rules: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select v.id from listed_projects v join projects p on p.id = v.id join namespaces n on n.id = p.namespace_id
  where n.ancestor_ids && array(select r.namespace_id from (${rules}) r where r.namespace_id is not null)`;

/** Those for which one of the rules may hold: its own stand in the place of the project's, but for those of policies. */
function underRules(rules: RawBuilder<unknown>): Clause {
  const own = sql`select r.merge_request_id from (${rules}) r where r.merge_request_id is not null`;
  const always = sql`${projectsBelow(rules)}
    union select r.project_id from (${rules}) r where r.project_id is not null and r.rule_type = 'report_approver'`;
  const unlessOwn = sql`select r.project_id from (${rules}) r where r.project_id is not null`;
  const byProject = (
    table: string,
  ): Condition => sql`(${sql.ref(`${table}.project_id`)} = any(array(${always}))
    or (${sql.ref(`${table}.project_id`)} = any(array(${unlessOwn})) and not ${hasOwn(`${table}.id`)}))`;
  return {
    where: sql`(i.id = any(array(${own})) or ${byProject('i')})`,
    seed: (tail) => sql`select id from (
      select m.id from merge_requests m where m.id = any(array(${own}))
      union all select m.id from merge_requests m where m.project_id = any(array(${always} union ${unlessOwn}))
        and ${byProject('m')} and not m.id = any(array(${own}))) under ${tail}`,
  };
}

/** Rules of code owners with what says whose they are, as statements about owners have them. */
const ownerRules = (which: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select r.*, p.id as of_project_id, n.ancestor_ids as of_ancestor_ids from approval_rules r
  join merge_requests m on m.id = r.merge_request_id join projects p on p.id = m.project_id
  join namespaces n on n.id = p.namespace_id where r.rule_type = 'code_owner' and ${which}) f`;

/**
 * Rules that name the user by themselves, by a role, or by a group of which they are a direct member now. Of a group that the
 * caller does not see it is not told who is in it, nor whose an address is that the user does not show.
 */
function rulesOf(userId: number, caller: Caller): RawBuilder<unknown> {
  const today = `'${now().toISOString().slice(0, 10)}'::date`;
  const isCurrent = sql.raw(`(m.expires_at is null or m.expires_at > ${today})`);
  const memberships = sql`members m join namespaces n on n.id = m.namespace_id
    and m.user_id = ${userId} and ${isCurrent} and ${isSeenGroup(caller)}`;
  const showsAll = caller?.id === userId || caller?.admin === true;
  const isDeveloper = sql`m.access_level >= ${sql.lit(DEVELOPER)}`;
  return sql`
    select * from approval_rules where id in (
      select rule_id from approval_rule_users where user_id = ${userId}
      union all select g.rule_id from ${memberships} join approval_rule_groups g on g.group_id = m.namespace_id
      union all select r.id from approval_rules r where r.rule_type = 'code_owner'
        and r.owner_names && array(select lower(u.username) from users u where u.id = ${userId})
      union all select r.id from approval_rules r where r.rule_type = 'code_owner' and r.owner_emails <> '{}'
        and r.owner_emails && array(select lower(e.email) from emails e join users u on u.id = e.user_id
          where e.user_id = ${userId} and e.confirmed_at is not null
            and (${showsAll} or lower(e.email) = lower(u.public_email)))
      union all select f.id from ${ownerRules(sql`r.owner_names && array(
          select lower(n.full_path) from ${memberships} where ${isDeveloper})`)}
        where exists (select from (${selectNamedGroups(today)}) o join members m on m.namespace_id = o.group_id
          where m.user_id = ${userId} and ${isCurrent} and ${isDeveloper})
      union all select r.id from (
          select m.project_id, m.access_level from members m
            where m.user_id = ${userId} and m.project_id is not null and ${isCurrent}
          union all select p.id, ${sql.lit(OWNER)} from namespaces n join projects p on p.namespace_id = n.id
            where n.owner_id = ${userId}) k
        join merge_requests m on m.project_id = k.project_id join approval_rules r on r.merge_request_id = m.id
        where r.rule_type = 'code_owner' and r.owner_roles <> '{}' and k.access_level = any(r.owner_roles))`;
}

const ofGroups = sql`select namespace_id from approval_rules where namespace_id is not null`;
const ruledProjects = sql`${projectsBelow(ofGroups)} union
  select v.id from listed_projects v where exists (select from approval_rules r where r.project_id = v.id)`;

/** Those with a rule, be it their own or of what is around them. */
const underAnyRule: Clause = {
  where: sql`(${hasOwn('i.id')} or i.project_id = any(array(${ruledProjects})))`,
  seed: (tail) => sql`select id from (
    select merge_request_id as id from approval_rules where ${isOwn} group by 1
    union all select m.id from merge_requests m where m.project_id = any(array(${ruledProjects})) and not ${hasOwn('m.id')}
    ) ruled ${tail}`,
};

/** Of a user who is asked to approve it, or of none, or any rule. */
export function approver(value: string, caller: Caller): Clause {
  if (/^\d+$/.test(value)) return underRules(rulesOf(Number(value), caller));
  return isNone(value) ? { where: sql`not ${underAnyRule.where}` } : underAnyRule;
}
