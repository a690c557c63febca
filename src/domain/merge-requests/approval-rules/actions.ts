/** Makes approval rules of projects, groups and merge requests, changes and deletes them. */
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
import { type Failure, forbidden, invalid, notFound } from '../../../platform/failure.ts';
import { keepApprovalsBeforeMerge } from './any-approver-actions.ts';
import {
  countRules,
  isMergeRequest,
  lockRules,
  parentOf,
  type RuleOwner,
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
  owner: RuleOwner,
  event: 'created' | 'updated' | 'deleted',
  rule: { id: number; name: string; approvals_required: number },
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(parentOf(owner)),
      event: `approval_rule_${event}`,
      details: {
        target_id: rule.id,
        target_type: 'ApprovalRule',
        target_details: rule.name,
        approvals_required: rule.approvals_required,
      },
    },
  });

const nameOf = (owner: RuleOwner): string => {
  if (isMergeRequest(owner)) return 'merge request';
  return isProject(owner) ? 'project' : 'group';
};

/** The owner's own rule, to be changed; 404 without it, 403 for one that a code owners file makes. */
async function findOwn(tx: Db, owner: RuleOwner, id: number): Promise<RuleRow> {
  const rule = found(await selectRule(tx, owner, id));
  if (rule.rule_type === 'code_owner') throw forbidden();
  return rule;
}

const takenByAnother = (owner: RuleOwner): Failure =>
  invalid({ rule_type: [`any-approver for the ${nameOf(owner)} already exists`] });

/** A count of the rule of any approver is a setting of its project, too. */
async function keepCount(tx: Db, owner: RuleOwner, ruleType: string, count: number): Promise<void> {
  if (ruleType === 'any_approver' && !isMergeRequest(owner) && isProject(owner))
    await keepApprovalsBeforeMerge(tx, owner.id, count);
}

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
  return { users, groups: groups && [...groups.keys()], branches };
}

/** Those whom a rule of a merge request newly names are called; of projects and groups a rule may be for any number of them. */
async function callNamed(tx: Db, owner: RuleOwner, count: number, userIds: readonly number[]): Promise<void> {
  if (isMergeRequest(owner) && count > 0 && userIds.length > 0) await owner.call?.(tx, userIds);
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

/**
 * Makes a rule and returns its id; 400 for a name that is taken, a second rule of any approver, or one rule too many. Made from
 * another rule, it has that one's name, and its approvers unless the request names some.
 */
export const createRule = (
  db: Db,
  actor: Actor,
  owner: RuleOwner,
  input: NewRule,
  source?: RuleRow,
): Promise<number> =>
  inTransaction(db, async (tx) => {
    const copies = source !== undefined && !namesAnybody(namedApprovers(input));
    // The table's check constraint admits only the types.
    const ruleType = copies ? (source.rule_type as RuleType) : newRuleType(input);
    const { approvals_required } = input;
    const name = source?.name ?? input.name;
    const report_type = copies ? source.report_type : (input.report_type ?? null);
    requireValid({
      name,
      ruleType,
      reportType: report_type,
      hasApprovers: namesAnybody(namedApprovers(input)),
    });
    await lockRules(tx, owner);
    const present = await countRules(tx, owner);
    if (ruleType === 'any_approver' && present.any) throw takenByAnother(owner);
    if (present.count >= MAX_RULES) throw invalid({ base: [`has ${MAX_RULES} rules already`] });
    const requested = await findNamed(tx, actor, parentOf(owner), input);
    const named = copies
      ? { users: source.user_ids, groups: source.group_ids, branches: undefined }
      : requested;
    const time = now();
    const { id } = await tx
      .insertInto('approval_rules')
      .values({
        ...(isMergeRequest(owner) ? { merge_request_id: owner.mergeRequestId } : parentColumns(owner)),
        source_rule_id: source?.id ?? null,
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
    await callNamed(tx, owner, approvals_required, named.users ?? []);
    await keepCount(tx, owner, ruleType, approvals_required);
    await audit(tx, actor, owner, 'created', { id, name, approvals_required });
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

/** Changes the properties of the owner's own rule that the request names; 404 without it. */
export const updateRule = (
  db: Db,
  actor: Actor,
  owner: RuleOwner,
  id: number,
  changes: RuleChanges,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await lockRules(tx, owner);
    const rule = await findOwn(tx, owner, id);
    const named = await findNamed(tx, actor, parentOf(owner), changes);
    const groups = await groupsAfter(tx, actor, rule, named.groups, changes.remove_hidden_groups ?? false);
    // The table's check constraint admits only the types.
    const before = rule.rule_type as RuleType;
    const ruleType = changes.rule_type ?? before;
    const { name = rule.name, approvals_required = rule.approvals_required } = changes;
    const hasApprovers =
      (named.users ?? rule.user_ids).length + (groups ?? rule.group_ids).length > 0 ||
      namesAnybody(namedApprovers(changes));
    requireValid({ name, ruleType, reportType: rule.report_type, hasApprovers });
    if (ruleType === 'any_approver' && before !== ruleType && (await countRules(tx, owner)).any)
      throw takenByAnother(owner);
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
    const added = (named.users ?? []).filter((userId) => !rule.user_ids.includes(userId));
    await callNamed(tx, owner, approvals_required, added);
    await keepCount(tx, owner, ruleType, approvals_required);
    await audit(tx, actor, owner, 'updated', { id, name, approvals_required });
  });

/** Deletes the owner's own rule; 404 without it. */
export const deleteRule = (
  db: Db,
  actor: Actor,
  owner: RuleOwner,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await lockRules(tx, owner);
    const rule = await findOwn(tx, owner, id);
    unmodified(rule.updated_at);
    await ahead(tx).deleteFrom('approval_rules').where('id', '=', id).execute();
    await keepCount(tx, owner, rule.rule_type, 0);
    await audit(tx, actor, owner, 'deleted', rule);
  });
