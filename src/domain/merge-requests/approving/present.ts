/** Approvals of a merge request as records. */

import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { selectSeenGroups } from '../../../kernel/access/group-list-queries.ts';
import { presentGroup } from '../../../kernel/namespaces/group-records.ts';
import { presentUserBasic, type UserBasic } from '../../../kernel/users/records.ts';
import { selectGroupsAmong } from '../approval-rules/queries.ts';
import type { RuleState } from '../approvals/approval-state.ts';
import { type HoldingRule, stateOf } from '../approvals/loaded.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type ApprovalReading, type ShownApprovals, selectApprovals } from './queries.ts';
import { canApprove, isCalledApproved } from './rules.ts';
import type { ApprovalsRecord, RuleRecord, StateRecord } from './schema.ts';

const peopleOf = ({ services, settings }: ApprovalReading, { people }: ShownApprovals) => {
  const around = { baseUrl: services.baseUrl(), settings };
  return (ids: readonly number[]): UserBasic[] =>
    ids.flatMap((id) => {
      const user = people.get(id);
      return user ? [presentUserBasic(around, user)] : [];
    });
};

/** Of these approvers of a rule those whom the reader may know: members of a group that they do not see are nobody's business. */
const knownOf = (
  { groupIds, userIds }: HoldingRule,
  ids: readonly number[],
  seenGroups: { has(id: number): boolean },
): readonly number[] =>
  groupIds.every((id) => seenGroups.has(id)) ? ids : ids.filter((id) => userIds.includes(id));

const shortRule = ({ id, name, ruleType }: HoldingRule) => ({ id, name, rule_type: ruleType });

/** The record of the approvals as they are now. */
export async function presentApprovals(
  reading: ApprovalReading,
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<ApprovalsRecord> {
  const { services, actor } = reading;
  const loaded = await selectApprovals(reading, row);
  const people = peopleOf(reading, loaded);
  const isPremium = services.config.tier !== 'free';
  const user = actor && { id: actor.id, mayUpdate: project.may('update_merge_requests') };
  return {
    user_has_approved: actor !== undefined && loaded.of.approvedBy.includes(actor.id),
    user_can_approve:
      user !== undefined && project.may('create_merge_requests') && canApprove(row, loaded, user),
    approved: isCalledApproved(loaded, isPremium),
    approved_by: loaded.approvals.flatMap(({ userId, approvedAt }) =>
      people([userId]).map((approver) => ({ user: approver, approved_at: approvedAt })),
    ),
    ...(isPremium && (await premiumFields(reading, row, loaded))),
  };
}

async function premiumFields(
  reading: ApprovalReading,
  row: MergeRequestRow,
  loaded: ShownApprovals,
): Promise<Partial<ApprovalsRecord>> {
  const people = peopleOf(reading, loaded);
  const { rules, approvalsRequired, approvalsLeft } = stateOf(loaded);
  const left = rules.filter(({ approved }) => !approved);
  const groupIds = new Set(left.flatMap(({ rule }) => rule.groupIds));
  const seenGroups = await selectSeenGroups(reading.db, reading.actor, [...groupIds]);
  const suggested = left.flatMap(({ rule, waitingFor }) => knownOf(rule, waitingFor, seenGroups));
  const isInvalid = ({ rule }: RuleState<HoldingRule>) =>
    rule.ruleType === 'regular' && rule.approvalsRequired > 0 && rule.approverIds.length === 0;
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    // The table's check constraint admits these only.
    state: row.state as NonNullable<ApprovalsRecord['state']>,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    merge_status: row.merge_status,
    approvals_required: approvalsRequired,
    approvals_left: approvalsLeft,
    require_password_to_approve: loaded.settings.require_reauthentication_to_approve,
    suggested_approvers: people([...new Set(suggested)]),
    approvers: [],
    approver_groups: [],
    approval_rules_left: left.map(({ rule }) => shortRule(rule)),
    has_approval_rules: rules.length > 0,
    merge_request_approvers_available: true,
    multiple_approval_rules_available: true,
    invalid_approvers_rules: rules.filter(isInvalid).map(({ rule }) => shortRule(rule)),
  };
}

/** The rules as records, in their order. Groups that the caller does not see are not named, nor are their members, who may approve. */
export async function presentRules(
  reading: ApprovalReading,
  loaded: ShownApprovals,
  rules: readonly HoldingRule[],
): Promise<RuleRecord[]> {
  return (await recordsOf(reading, loaded, rules)).records;
}

/** The same, and the groups that the reader sees of those that the rules name. */
async function recordsOf(
  reading: ApprovalReading,
  loaded: ShownApprovals,
  rules: readonly HoldingRule[],
): Promise<{ records: RuleRecord[]; seen: { has(id: number): boolean } }> {
  const { db, services, settings, actor } = reading;
  const people = peopleOf(reading, loaded);
  const groupIds = [...new Set(rules.flatMap((rule) => rule.groupIds))];
  const groups = await selectGroupsAmong(db, actor, groupIds);
  const view = {
    baseUrl: services.baseUrl(),
    settings,
    tier: services.config.tier,
    admin: actor?.admin ?? false,
  };
  const records = rules.map((rule) => ({
    id: rule.id,
    name: rule.name,
    rule_type: rule.ruleType,
    // The table's check constraint admits these only.
    report_type: rule.reportType as RuleRecord['report_type'],
    section: rule.section,
    eligible_approvers: people(knownOf(rule, rule.approverIds, groups)),
    approvals_required: rule.approvalsRequired,
    users: people(rule.userIds),
    groups: rule.groupIds.flatMap((id) => {
      const group = groups.get(id);
      return group ? [presentGroup(view, group)] : [];
    }),
    contains_hidden_groups: rule.groupIds.some((id) => !groups.has(id)),
    source_rule: rule.sourceRuleId === null ? null : { id: rule.sourceRuleId },
    overridden: rule.ofMergeRequest && rule.sourceRuleId !== null,
  }));
  return { records, seen: groups };
}

export async function presentState(reading: ApprovalReading, loaded: ShownApprovals): Promise<StateRecord> {
  const { rules } = stateOf(loaded);
  const people = peopleOf(reading, loaded);
  const { records, seen } = await recordsOf(
    reading,
    loaded,
    rules.map(({ rule }) => rule),
  );
  return {
    approval_rules_overwritten: loaded.isOverwritten,
    rules: rules.flatMap(({ rule, approvedBy, approved }, at) => {
      const record = records[at];
      if (!record) return [];
      const approvers = people(knownOf(rule, approvedBy, seen));
      return [{ ...record, code_owner: record.rule_type === 'code_owner', approved_by: approvers, approved }];
    }),
  };
}
