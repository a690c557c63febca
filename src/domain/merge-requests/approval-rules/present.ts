/** Pages of approval rules as records: what they name is loaded once for the whole page. */
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { presentGroup } from '../../../kernel/namespaces/group-records.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { presentUserBasic, type UserBasic } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { selectProtectedBranches } from '../../repositories/index.ts';
import { type RuleRow, selectNamed } from './queries.ts';
import type { ApprovalRuleRecord, SettingRuleRecord } from './schema.ts';

export type RuleContext = {
  db: Db;
  services: Needs<'config' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: ResourceParent;
};

/** The first so many of all protected branches, in a rule that is for all. */
const MAX_SHOWN_BRANCHES = 100;

const distinct = (lists: readonly (readonly number[])[]): number[] => [...new Set(lists.flat())];

/** The branches of each rule as records. */
async function branchesOf({ db, services, subject }: RuleContext, rows: readonly RuleRow[]) {
  if (!isProject(subject)) return () => [];
  const named = distinct(rows.map(({ branch_ids }) => branch_ids));
  const first = rows.some((row) => row.applies_to_all_protected_branches) ? MAX_SHOWN_BRANCHES : 0;
  const all = await selectProtectedBranches(db, services, subject.id, { named, first });
  const byId = new Map(all.map((branch) => [branch.id, branch]));
  return (row: RuleRow) =>
    row.applies_to_all_protected_branches
      ? all.slice(0, MAX_SHOWN_BRANCHES)
      : row.branch_ids.flatMap((id) => byId.get(id) ?? []);
}

/** The records, in the order of the rows. Groups that the caller does not see are not named, nor are their members, who may approve. */
export async function presentRules(
  context: RuleContext,
  rows: readonly RuleRow[],
): Promise<ApprovalRuleRecord[]> {
  const { db, services, settings, actor, subject } = context;
  const ids = rows.map(({ id }) => id);
  const { approvers, people: users, groups } = await selectNamed(db, actor, subject, ids);
  const branches = await branchesOf(context, rows);
  const baseUrl = services.baseUrl();
  const view = { baseUrl, settings, tier: services.config.tier, admin: actor.admin };
  const people = new Map<number, UserBasic>();
  for (const [id, user] of users) people.set(id, presentUserBasic({ baseUrl, settings }, user));
  const peopleOf = (userIds: readonly number[]) => userIds.flatMap((id) => people.get(id) ?? []);
  const knownOf = ({ id, group_ids, user_ids }: RuleRow): readonly number[] => {
    const ids = approvers.get(id) ?? [];
    return group_ids.every((each) => groups.has(each)) ? ids : ids.filter((each) => user_ids.includes(each));
  };
  return mapInTurns(rows, (row) => ({
    id: row.id,
    name: row.name,
    // The table's check constraints admit only these words.
    rule_type: row.rule_type as ApprovalRuleRecord['rule_type'],
    report_type: row.report_type as ApprovalRuleRecord['report_type'],
    eligible_approvers: peopleOf(knownOf(row)),
    approvals_required: row.approvals_required,
    users: peopleOf(row.user_ids),
    groups: row.group_ids.flatMap((id) => {
      const group = groups.get(id);
      return group ? [presentGroup(view, group)] : [];
    }),
    contains_hidden_groups: row.group_ids.some((id) => !groups.has(id)),
    protected_branches: branches(row),
    applies_to_all_protected_branches: row.applies_to_all_protected_branches,
  }));
}

export async function presentRule(context: RuleContext, row: RuleRow): Promise<ApprovalRuleRecord> {
  const [record] = await presentRules(context, [row]);
  if (!record) throw new Error('one record for each row');
  return record;
}

/** The record under the older addresses. */
export const asSettingRule = (record: ApprovalRuleRecord): SettingRuleRecord => ({
  ...record,
  approvers: record.eligible_approvers,
});
