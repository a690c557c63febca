/** Makes approval rules of projects and groups, changes and deletes them. */
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { type Failure, invalid, notFound } from '../../../platform/failure.ts';
import { keepApprovalsBeforeMerge } from './any-approver-actions.ts';
import {
  countRules,
  lockRules,
  type RuleRow,
  selectBranchesAmong,
  selectGroupsAmong,
  selectMembersAmong,
  selectRule,
} from './queries.ts';
import { namedApprovers, namesAnybody, newRuleType, type RuleType, ruleProblems } from './rules.ts';
import type { NewRule, RuleChanges } from './schema.ts';

/** Of one project or group: a merge request is held against each. */
const MAX_RULES = 100;

const audit = (
  tx: Db,
  actor: Actor,
  parent: ResourceParent,
  event: 'created' | 'updated' | 'deleted',
  rule: { id: number; name: string; approvals_required: number },
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(parent),
      event: `approval_rule_${event}`,
      details: {
        target_id: rule.id,
        target_type: 'ApprovalRule',
        target_details: rule.name,
        approvals_required: rule.approvals_required,
      },
    },
  });

const takenByAnother = (parent: ResourceParent): Failure =>
  invalid({ rule_type: [`any-approver for the ${isProject(parent) ? 'project' : 'group'} already exists`] });

function requireValid(rule: Parameters<typeof ruleProblems>[0]): void {
  const problems = ruleProblems(rule);
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/** What the request names, found; undefined for what it leaves as it is. */
type Found = { users: number[] | undefined; groups: number[] | undefined; branches: number[] | undefined };

/** The lists of a request: strangers are left out; 404 for a group that the caller does not see, 400 for another's branch. */
async function findNamed(tx: Db, actor: Actor, parent: ResourceParent, input: RuleChanges): Promise<Found> {
  const { userIds, usernames, groupIds } = namedApprovers(input);
  const branchIds = input.protected_branch_ids?.filter((id) => id !== 0);
  const users =
    userIds || usernames ? await selectMembersAmong(tx, parent, userIds ?? [], usernames ?? []) : undefined;
  const groups = groupIds && (await selectGroupsAmong(tx, actor, groupIds));
  if (groups && !groupIds.every((id) => groups.has(id))) throw notFound('Group');
  const branches = branchIds && (await selectBranchesAmong(tx, parent.id, branchIds));
  if (branches && !branchIds.every((id) => branches.includes(id)))
    throw invalid({ protected_branches: ["must be the project's"] });
  return { users, groups: groups && [...groups], branches };
}

/** Writes what a rule names, in place of what it named before. */
async function writeNamed(tx: Db, ruleId: number, { users, groups, branches }: Found): Promise<void> {
  if (users) {
    await ahead(tx).deleteFrom('approval_rule_users').where('rule_id', '=', ruleId).execute();
    const rows = users.map((user_id) => ({ rule_id: ruleId, user_id }));
    if (rows.length > 0) await ahead(tx).insertInto('approval_rule_users').values(rows).execute();
  }
  if (groups) {
    await ahead(tx).deleteFrom('approval_rule_groups').where('rule_id', '=', ruleId).execute();
    const rows = groups.map((group_id) => ({ rule_id: ruleId, group_id }));
    if (rows.length > 0) await ahead(tx).insertInto('approval_rule_groups').values(rows).execute();
  }
  if (branches) {
    await ahead(tx).deleteFrom('approval_rule_branches').where('rule_id', '=', ruleId).execute();
    const rows = branches.map((id) => ({ rule_id: ruleId, protected_branch_id: id }));
    if (rows.length > 0) await ahead(tx).insertInto('approval_rule_branches').values(rows).execute();
  }
}

/** Makes a rule and returns its id; 400 for a name that is taken, a second rule of any approver, or one rule too many. */
export const createRule = (db: Db, actor: Actor, parent: ResourceParent, input: NewRule): Promise<number> =>
  inTransaction(db, async (tx) => {
    const ruleType = newRuleType(input);
    const { name, approvals_required, report_type = null } = input;
    requireValid({
      name,
      ruleType,
      reportType: report_type,
      hasApprovers: namesAnybody(namedApprovers(input)),
    });
    await lockRules(tx, parent);
    const present = await countRules(tx, parent);
    if (ruleType === 'any_approver' && present.any) throw takenByAnother(parent);
    if (present.count >= MAX_RULES) throw invalid({ base: [`has ${MAX_RULES} rules already`] });
    const named = await findNamed(tx, actor, parent, input);
    const time = now();
    const { id } = await tx
      .insertInto('approval_rules')
      .values({
        ...parentColumns(parent),
        name,
        rule_type: ruleType,
        report_type,
        approvals_required,
        applies_to_all_protected_branches: input.applies_to_all_protected_branches ?? false,
        created_at: time,
        updated_at: time,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await writeNamed(tx, id, named);
    if (ruleType === 'any_approver' && isProject(parent))
      await keepApprovalsBeforeMerge(tx, parent.id, approvals_required);
    await audit(tx, actor, parent, 'created', { id, name, approvals_required });
    return id;
  });

/** The groups of a rule after a change: those that the caller does not see stay, unless they are to go. */
async function groupsAfter(
  tx: Db,
  actor: Actor,
  rule: RuleRow,
  groups: readonly number[] | undefined,
  removesHidden: boolean,
): Promise<number[] | undefined> {
  if (groups === undefined && !removesHidden) return undefined;
  const seen = await selectGroupsAmong(tx, actor, rule.group_ids);
  const kept = groups ?? rule.group_ids.filter((id) => seen.has(id));
  const hidden = removesHidden ? [] : rule.group_ids.filter((id) => !seen.has(id));
  return [...new Set([...kept, ...hidden])];
}

/** Changes the properties of the parent's own rule that the request names; 404 without it. */
export const updateRule = (
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  id: number,
  changes: RuleChanges,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await lockRules(tx, parent);
    const rule = found(await selectRule(tx, parent, id));
    const named = await findNamed(tx, actor, parent, changes);
    const groups = await groupsAfter(tx, actor, rule, named.groups, changes.remove_hidden_groups ?? false);
    // The table's check constraint admits only the types.
    const before = rule.rule_type as RuleType;
    const ruleType = changes.rule_type ?? before;
    const { name = rule.name, approvals_required = rule.approvals_required } = changes;
    const hasApprovers =
      (named.users ?? rule.user_ids).length + (groups ?? rule.group_ids).length > 0 ||
      namesAnybody(namedApprovers(changes));
    requireValid({ name, ruleType, reportType: rule.report_type, hasApprovers });
    if (ruleType === 'any_approver' && before !== ruleType && (await countRules(tx, parent)).any)
      throw takenByAnother(parent);
    const { applies_to_all_protected_branches = rule.applies_to_all_protected_branches } = changes;
    await tx
      .updateTable('approval_rules')
      .set({
        name,
        approvals_required,
        rule_type: ruleType,
        applies_to_all_protected_branches,
        updated_at: now(),
      })
      .where('id', '=', id)
      .execute();
    await writeNamed(tx, id, { ...named, groups });
    if (ruleType === 'any_approver' && isProject(parent))
      await keepApprovalsBeforeMerge(tx, parent.id, approvals_required);
    await audit(tx, actor, parent, 'updated', { id, name, approvals_required });
  });

/** Deletes the parent's own rule; 404 without it. */
export const deleteRule = (
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await lockRules(tx, parent);
    const rule = found(await selectRule(tx, parent, id));
    unmodified(rule.updated_at);
    await ahead(tx).deleteFrom('approval_rules').where('id', '=', id).execute();
    if (rule.rule_type === 'any_approver' && isProject(parent))
      await keepApprovalsBeforeMerge(tx, parent.id, 0);
    await audit(tx, actor, parent, 'deleted', rule);
  });
